/* bench_scaling_tell.c - what gradus bench scaling has found, for people and for machines. */
#include <jansson.h>

#include "bench/bench_judge.h"
#include "bench/bench_scaling.h"
#include "terminal/text.h"
#include "train/row.h"

enum { PAPER_RANKS = 1024 };

const char *const scaling_way_names[WAYS] = {"strong", "weak"};

/* --- for people --------------------------------------------------------------------------------------------------- */

static void print_head(const scaling_bench *b, const scaling_link *link)
{
    const scaling_trial *t = &b->of[STRONG][0].last;
    char text[400], bytes[32];
    snprintf(text, sizeof text,
             "%s: %s %s, a thread a rank, %.0f processor%s; %d round%s in turns. Gradients are %s; a message between "
             "two ranks takes %.1f us, and %.2f GB/s",
             b->recipe->name, t->device, t->isa, b->processors, b->processors == 1 ? "" : "s", b->rounds,
             b->rounds == 1 ? "" : "s", bytes_text(t->bytes, bytes), 1e6 * link->latency, 1e-9 * link->bandwidth);
    print_wrapped(stdout, text, 0, 0);
    printf("\n%-8s%6s%8s%12s%9s%8s%11s%9s\n", "", "ranks", "batch", "ms/update", "of one", "+-", "model ms", "off");
}

static void print_trials(const scaling_bench *b, const scaling_link *link, int way, int i)
{
    const rank_trials *t = &b->of[way][i];
    const double model = scaling_predict(b, link, way, i);
    char noise[16] = "";
    if (i > 0 && b->rounds > 1)
        snprintf(noise, sizeof noise, "%.1f %%", 100 * noise_of(t->ratios, b->rounds));
    printf("%-8s%6lld%8lld%12.2f%9.3f%8s%11.2f%+7.0f %%\n", scaling_way_names[way], (long long)b->ranks[i],
           (long long)t->batch, 1e3 * t->middle, t->ratio, noise, 1e3 * model, 100 * (model / t->middle - 1));
}

/* The model alone: how many times faster than one rank, and which share of so many ranks that is. */
static void print_paper(const scaling_bench *b)
{
    const double one = b->asks->compute > 0 ? 1e-3 * b->asks->compute : b->of[STRONG][0].middle,
                 bytes = b->of[STRONG][0].last.bytes;
    printf("\non paper, %.4g ms of computing: times faster (strong), share of the ranks' speed (weak)\n%-20s",
           1e3 * one, "ranks");
    for (int64_t r = 2; r <= PAPER_RANKS; r *= 8)
        printf("%10lld%8s", (long long)r, "");
    for (const scaling_link *l = scaling_links; l->name; l++) {
        printf("\n%-20s", l->name);
        for (int64_t r = 2; r <= PAPER_RANKS; r *= 8) {
            const double sum = scaling_sum(l, r, bytes);
            printf("%10.1f%6.0f %%", one / (one / (double)r + sum), 100 * one / (one + sum));
        }
    }
    putchar('\n');
    for (const scaling_link *l = scaling_links; l->name; l++)
        printf("  %s: %s\n", l->name, l->source);
}

void scaling_tell(const scaling_bench *b, const scaling_link *link)
{
    print_head(b, link);
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < b->n; i++)
            print_trials(b, link, way, i);
    print_paper(b);
    putchar('\n');
    print_wrapped(stdout,
                  "strong: one batch, shared out. weak: as many samples for each rank. of one: time to that of the "
                  "first number of ranks in the same round, with its 95 % interval. model: one rank's time, shared out "
                  "to ranks that have a processor, and 2 lg R latency + 2 (R-1)/R bytes / bandwidth. By all numbers of "
                  "ranks the strong runs' losses had the same bits.",
                  0, 0);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static void print_row(const scaling_bench *b, const scaling_link *link, int way, int i)
{
    const rank_trials *t = &b->of[way][i];
    json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "recipe", b->recipe->name, "device", t->last.device,
                            "isa", t->last.isa, "version", gr_version(), "scaling", scaling_way_names[way], "ranks",
                            (json_int_t)b->ranks[i], "batch", (json_int_t)t->batch);
    json_object_set_new(row, "processors", json_integer((json_int_t)b->processors));
    json_object_set_new(row, "gradient_bytes", json_integer((json_int_t)t->last.bytes));
    json_object_set_new(row, "latency", json_real(link->latency));
    json_object_set_new(row, "bandwidth", json_real(link->bandwidth));
    json_object_set_new(row, "ms", json_real(1e3 * t->middle));
    json_object_set_new(row, "ratio", json_real(t->ratio));
    json_object_set_new(row, "model_ms", json_real(1e3 * scaling_predict(b, link, way, i)));
    json_object_set_new(row, "sum_ms", json_real(1e3 * t->sum));
    json_object_set_new(row, "loss", json_real(t->last.loss));
    json_dumpf(row, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(row);
}

void scaling_tell_json(const scaling_bench *b, const scaling_link *link)
{
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < b->n; i++)
            print_row(b, link, way, i);
}
