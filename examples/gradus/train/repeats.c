/* repeats.c - see repeats.h. */
#include "train/repeats.h"

#include <math.h>
#include <stdio.h>

#include "terminal/complain.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/target.h"

int repeats_check(const settings *s, const char *command)
{
    const char *file = s->save_weights ? "save-weights" : s->log_updates ? "log-updates" : NULL;
    const char *table = s->json ? NULL : s->time ? "time" : s->usage ? "usage" : NULL;
    if (s->runs == 0)
        return 0;
    if (file)
        return complain(GR_USAGE, command, "--runs and --%s exclude each other; give --seed N for a file of each",
                        file);
    if (table)
        return complain(GR_USAGE, command, "--runs and --%s exclude each other but for --json, whose rows have both",
                        table);
    if (s->seed > INT64_MAX - s->runs)
        return complain(GR_USAGE, command, "--seed %lld: from there on are no %lld seeds", (long long)s->seed,
                        (long long)s->runs);
    return 0;
}

/* --- a line for each ---------------------------------------------------------------------------------------------- */

static bool has_views(const resolved *s)
{
    return views_count(&s->tta) > 1 && !s->asked.no_evaluation;
}

static bool has_target(const resolved *s)
{
    return s->target > 0 && !s->asked.no_evaluation;
}

static void print_head(const repeats *t, const result *r)
{
    const resolved *s = r->run;
    char name[32], target[32];
    snprintf(target, sizeof target, "to %g %%", s->asked.target_accuracy);
    printf("%s on ", s->recipe->name);
    print_plain(stdout, r->data ? r->data : s->recipe->data);
    printf(", %s lr %g, batch size %lld: %d run%s\n\n", s->optimizer->name, s->lr, (long long)s->batch, t->asked,
           t->asked == 1 ? "" : "s");
    printf("%8s %9s", "seed", "test");
    if (has_views(s))
        printf(" %9s", views_name(&s->tta, name));
    printf(" %14s", "training");
    if (has_target(s))
        printf(" %14s", target);
    putchar('\n');
}

/* "94.2 %"; "-" of no samples. */
static void print_share(int64_t samples, double share)
{
    char text[32] = "-";
    if (samples > 0)
        snprintf(text, sizeof text, "%.1f %%", 100 * share);
    printf(" %9s", text);
}

static void print_line(const result *r)
{
    const resolved *s = r->run;
    const double reached = target_seconds(r);
    char time[32];
    printf("%8lld", (long long)s->asked.seed);
    print_share(r->fit.test.samples, r->fit.test.accuracy);
    if (has_views(s))
        print_share(r->tta.samples, r->tta.accuracy);
    printf(" %14s", duration_text(r->fit.seconds, time));
    if (has_target(s))
        printf(" %14s", isnan(reached) ? "-" : duration_text(reached, time));
    if (r->code)
        printf("  %s", row_state(r->code));
    putchar('\n');
    fflush(stdout);
}

void repeats_add(repeats *t, const result *r)
{
    const double reached = target_seconds(r);
    json_array_append_new(t->rows, row_json(r));
    if (t->told++ == 0 && !r->run->asked.json)
        print_head(t, r);
    if (!r->run->asked.json)
        print_line(r);
    if (r->code)
        return;
    t->done++;
    sample_add(&t->seconds, r->fit.seconds);
    if (r->fit.test.samples > 0)
        sample_add(&t->test, r->fit.test.accuracy);
    if (r->tta.samples > 0)
        sample_add(&t->tta, r->tta.accuracy);
    if (!isnan(reached))
        sample_add(&t->to_target, reached);
}

/* --- together ----------------------------------------------------------------------------------------------------- */

/* "test        93.1 % +- 0.4" */
static void print_mean(const char *name, const sample *of)
{
    if (of->n == 0)
        return;
    printf("%-11s %.1f %%", name, 100 * of->mean);
    if (of->n > 1)
        printf(" +- %.1f, deviation %.1f", 100 * sample_half_width(of), 100 * sample_deviation(of));
    putchar('\n');
}

static void print_reached(const repeats *t, const resolved *s)
{
    char name[32], time[32];
    snprintf(name, sizeof name, "%g %%", s->asked.target_accuracy);
    printf("%-11s reached by %d of %d", name, t->to_target.n, t->done);
    if (t->to_target.n > 0)
        printf(", after %s of training in their mean", duration_text(t->to_target.mean, time));
    putchar('\n');
}

static void print_together(const repeats *t, const resolved *s)
{
    char name[32], time[32];
    printf("\nMean of %d run%s", t->done, t->done == 1 ? "" : "s");
    if (t->done < t->asked)
        printf(" (of %d)", t->asked);
    putchar('\n');
    print_mean("test", &t->test);
    print_mean(views_name(&s->tta, name), &t->tta);
    printf("%-11s %s (evaluation is not counted)\n", "training", duration_text(t->seconds.mean, time));
    if (has_target(s))
        print_reached(t, s);
    if (t->done > 1 && t->test.n > 1)
        printf("+-: the 95 %% interval of the mean over seeds (Student's t)\n");
}

static void put_mean(json_t *o, const char *key, const char *half, const sample *of)
{
    json_object_set_new(o, key, json_real_or_null(of->n > 0 ? of->mean : NAN));
    if (half)
        json_object_set_new(o, half, json_real_or_null(sample_half_width(of)));
}

static void print_json(const repeats *t, const resolved *s)
{
    const json_t *first = json_array_get(t->rows, 0);
    json_t *o = json_pack("{s:s, s:O?, s:i, s:i}", "recipe", s->recipe->name, "data", json_object_get(first, "data"),
                          "runs", t->asked, "done", t->done);
    put_mean(o, "test_accuracy", "half_width_95", &t->test);
    put_mean(o, "tta_accuracy", "tta_half_width_95", &t->tta);
    put_mean(o, "seconds", NULL, &t->seconds);
    json_object_set_new(o, "target_accuracy", json_real_or_null(s->target > 0 ? s->target : NAN));
    json_object_set_new(o, "reached", has_target(s) ? json_integer(t->to_target.n) : json_null());
    put_mean(o, "seconds_to_target", NULL, &t->to_target);
    json_object_set(o, "rows", t->rows);
    json_dumpf(o, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(o);
}

/* For people or as one line of JSON with all rows in it; nothing where there is no result. */
static void tell(const repeats *t, const resolved *s)
{
    if (t->told > 0 && s->asked.json)
        print_json(t, s);
    else if (t->done > 0 && !s->asked.json)
        print_together(t, s);
}

/* --- one after the other ------------------------------------------------------------------------------------------ */

int repeats_make(const settings *s, const recipe *r, rank_run *run, const char *command)
{
    char folder[4096];
    repeats t = {.asked = (int)s->runs, .rows = json_array()};
    int code = 0, bad = 0;
    for (int64_t i = 0; i < s->runs && (code == 0 || code == GR_NUMERIC); i++) {
        settings own = *s;
        own.seed += i;
        if (s->checkpoint) {
            snprintf(folder, sizeof folder, "%s/seed-%lld", s->checkpoint, (long long)own.seed);
            own.checkpoint = folder;
        }
        complain(GR_OK, command, "run %lld of %d: seed %lld", (long long)i + 1, t.asked, (long long)own.seed);
        const resolved whole = settings_resolve(&own, r);
        code = ranks_run(&whole, run, &t, command);
        bad = code ? code : bad;
    }
    const resolved common = settings_resolve(s, r);
    tell(&t, &common);
    json_decref(t.rows);
    return bad;
}
