/* compare.c - gradus compare: which differences between sweeps there are, and which are not shown. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compare/runs.h"
#include "sweep/folder.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"

enum { MAX_COMPARISONS = 256 };

typedef struct {
    choice metric;
    double difference; /* that shall be told; 0: the metric's usual one */
    bool json;
} compare_asks;

/* Runs of one kind in one folder. */
typedef struct {
    const runs *runs;
    kind kind;
    int done, constant, went_bad;
} group;

typedef struct {
    const group *a, *b; /* b - a */
    paired found;
    double p, corrected; /* NAN: one seed or none */
} comparison;

typedef struct {
    runs runs[MAX_FOLDERS];
    int n_runs;
    group groups[MAX_COMPARISONS];
    int n_groups;
    comparison list[MAX_COMPARISONS];
    int n;
    const metric *metric;
    double difference;
    json_t *differences; /* of the protocols */
} comparisons;

/* --- what is compared with what ----------------------------------------------------------------------------------- */

static void find_groups(comparisons *c)
{
    kind kinds[MAX_COMPARISONS];
    for (int i = 0; i < c->n_runs; i++) {
        const int n = runs_kinds(&c->runs[i], kinds, MAX_COMPARISONS - c->n_groups);
        for (int k = 0; k < n; k++) {
            group *g = &c->groups[c->n_groups++];
            *g = (group){.runs = &c->runs[i], .kind = kinds[k]};
            g->done = runs_done(g->runs, g->kind, &g->constant);
            g->went_bad = runs_went_bad(g->runs, &g->kind);
        }
    }
}

static bool same_kind(const group *a, const group *b)
{
    return strcmp(a->kind.optimizer, b->kind.optimizer) == 0 && strcmp(a->kind.variant, b->kind.variant) == 0;
}

/* Whether any kind stands in two folders. */
static bool any_shared(const comparisons *c)
{
    for (int i = 0; i < c->n_groups; i++)
        for (int j = 0; j < i; j++)
            if (c->groups[i].runs != c->groups[j].runs && same_kind(&c->groups[i], &c->groups[j]))
                return true;
    return false;
}

static int compare(comparisons *c, const group *a, const group *b)
{
    pair *pairs;
    if (c->n == MAX_COMPARISONS)
        return complain(GR_USAGE, "compare", "more than %d comparisons; give fewer folders", MAX_COMPARISONS);
    const int n = runs_pair(a->runs, a->kind, b->runs, b->kind, c->metric, &pairs);
    if (n < 0)
        return complain(GR_NO_MEMORY, "compare", "out of host memory for the pairs of runs");
    comparison *one = &c->list[c->n++];
    *one = (comparison){.a = a, .b = b, .found = pairs_compare(pairs, n)};
    one->p = sample_p(&one->found.differences);
    free(pairs);
    return 0;
}

/* The same kind in two folders; where folders share none, or there is one folder, all kinds with each other. */
static int compare_all(comparisons *c)
{
    double p[MAX_COMPARISONS], corrected[MAX_COMPARISONS];
    int code = 0;
    const bool across = any_shared(c);
    for (int i = 0; i < c->n_groups; i++)
        for (int j = i + 1; code == 0 && j < c->n_groups; j++) {
            const group *a = &c->groups[i], *b = &c->groups[j];
            const bool wanted = across ? same_kind(a, b) : a->runs != b->runs || c->n_runs == 1;
            if (wanted)
                code = compare(c, a, b);
        }
    for (int i = 0; i < c->n; i++)
        p[i] = c->list[i].p;
    holm(p, corrected, c->n);
    for (int i = 0; i < c->n; i++)
        c->list[i].corrected = corrected[i];
    return code || c->n > 0
               ? code
               : complain(GR_USAGE, "compare", "one folder with one optimizer: nothing to compare it with");
}

/* "shown", "not shown" or "no interval". */
static const char *verdict_of(const comparison *one)
{
    return isnan(one->corrected) ? "no interval" : one->corrected < 0.05 ? "shown" : "not shown";
}

static int seeds_needed(const comparisons *c, const comparison *one)
{
    return values_needed(sample_deviation(&one->found.differences), c->difference);
}

/* --- for people --------------------------------------------------------------------------------------------------- */

enum { NAME = 256 };

/* "adam", or "adam lr=0.01". */
static const char *kind_text(kind of, char text[NAME])
{
    snprintf(text, NAME, "%s%s%s", of.optimizer, *of.variant ? " " : "", of.variant);
    return text;
}

/* Of its folder and kind what tells it from the other of the comparison. */
static const char *name_of(const comparisons *c, const comparison *one, const group *g, char text[NAME])
{
    char kind_name[NAME];
    kind_text(g->kind, kind_name);
    if (c->n_runs == 1)
        snprintf(text, NAME, "%s", kind_name);
    else if (same_kind(one->a, one->b))
        snprintf(text, NAME, "%s", g->runs->label);
    else
        snprintf(text, NAME, "%.80s/%.160s", g->runs->label, kind_name);
    return text;
}

static void print_line(const char *words, ...) __attribute__((format(printf, 1, 2)));

/* A line of a comparison. */
static void print_line(const char *words, ...)
{
    va_list args;
    printf("  ");
    va_start(args, words);
    vprintf(words, args);
    va_end(args);
    putchar('\n');
}

static void print_comparison(const comparisons *c, const comparison *one)
{
    char a[NAME], b[NAME], of[NAME] = "", interval[48] = "";
    const sample *s = &one->found.differences;
    const int digits = c->metric->digits;
    if (c->n_runs > 1 && same_kind(one->a, one->b))
        kind_text(one->a->kind, of);
    printf("\n%s%s%s - %s\n", of, *of ? ": " : "", name_of(c, one, one->b, b), name_of(c, one, one->a, a));
    if (s->n > 1)
        snprintf(interval, sizeof interval, " +- %.*f", digits, sample_half_width(s));
    if (s->n == 0)
        print_line("no seed has its runs in both");
    else
        print_line("%+.*f%s over %d seed%s, at %d batch size%s", digits, s->mean, interval, s->n, s->n == 1 ? "" : "s",
                   one->found.batches, one->found.batches == 1 ? "" : "s");
    if (one->found.left_out)
        print_line("%d seed%s left out: not at every batch size", one->found.left_out,
                   one->found.left_out == 1 ? "" : "s");
    if (s->n == 1)
        print_line("one seed has no interval: nothing is shown");
    if (s->n < 2)
        return;
    print_line("%s: p = %.2g after Holm's correction for %d comparison%s",
               one->corrected < 0.05 ? "a difference is shown" : "no difference is shown", one->corrected, c->n,
               c->n == 1 ? "" : "s");
    if (one->corrected >= 0.05)
        print_line("to tell a difference of %g four times in five it takes about %d seeds", c->difference,
                   seeds_needed(c, one));
}

static void print_differences(const json_t *differences)
{
    const char *key;
    json_t *values, *value;
    size_t i;
    json_object_foreach((json_t *)differences, key, values)
    {
        printf("they differ in %s:", key);
        json_array_foreach(values, i, value)
        {
            char *text = json_text(value, JSON_ENCODE_ANY | ROW_FORMAT);
            printf("%s %s", i ? "," : "", json_is_null(value) ? "not set" : text ? text : "");
            free(text);
        }
        putchar('\n');
    }
}

static void print_constant(const comparisons *c)
{
    char text[NAME];
    for (int i = 0; i < c->n_groups; i++) {
        const group *g = &c->groups[i];
        if (g->constant)
            printf("%s, %s: %d of %d runs give every test sample the same answer\n", g->runs->label,
                   kind_text(g->kind, text), g->constant, g->done);
    }
}

static void print_went_bad(const comparisons *c)
{
    char text[NAME];
    for (int i = 0; i < c->n_groups; i++) {
        const group *g = &c->groups[i];
        if (g->went_bad)
            printf("%s, %s: the numbers of %d run%s went bad; %s left out\n", g->runs->label, kind_text(g->kind, text),
                   g->went_bad, g->went_bad == 1 ? "" : "s", g->went_bad == 1 ? "it is" : "they are");
    }
}

/* Where times are compared: those of runs that were not alone. */
static void print_side_by_side(const comparisons *c)
{
    const bool timed = strcmp(c->metric->name, "samples_per_second") == 0 || strcmp(c->metric->name, "seconds") == 0;
    for (int i = 0; timed && i < c->n_runs; i++) {
        const int n = runs_side_by_side(&c->runs[i]);
        if (n)
            printf("%s: %d run%s had others at work beside %s (--jobs); no run's own speed\n", c->runs[i].label, n,
                   n == 1 ? "" : "s", n == 1 ? "it" : "them");
    }
}

static void print_all(const comparisons *c)
{
    const json_t *first = c->runs[0].identity;
    print_plain(stdout, text_at(first, "recipe"));
    printf(" on ");
    print_plain(stdout, text_at(first, "data"));
    printf(": %s\n", c->metric->text);
    print_differences(c->differences);
    for (int i = 0; i < c->n; i++)
        print_comparison(c, &c->list[i]);
    putchar('\n');
    print_constant(c);
    print_went_bad(c);
    print_side_by_side(c);
    print_wrapped(stdout,
                  "Runs are paired by batch size and seed and averaged over the batch sizes of a seed; +- is the 95 % "
                  "interval of the mean over seeds (Student's t), uncorrected.",
                  0, 0);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *group_json(const group *g)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i}", "folder", g->runs->folder, "optimizer", g->kind.optimizer,
                     "variant", g->kind.variant, "done", g->done, "constant", g->constant, "numbers_went_bad",
                     g->went_bad);
}

static json_t *comparison_json(const comparisons *c, const comparison *one)
{
    const sample *s = &one->found.differences;
    return json_pack("{s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:o, s:o, s:s, s:o}", "a", group_json(one->a), "b",
                     group_json(one->b), "seeds", s->n, "batches", one->found.batches, "seeds_left_out",
                     one->found.left_out, "difference", json_real_or_null(s->n ? s->mean : NAN), "half_width_95",
                     json_real_or_null(sample_half_width(s)), "p", json_real_or_null(one->p), "p_holm",
                     json_real_or_null(one->corrected), "verdict", verdict_of(one), "seeds_needed",
                     s->n > 1 ? json_integer(seeds_needed(c, one)) : json_null());
}

static void print_json(const comparisons *c)
{
    json_t *list = json_array();
    for (int i = 0; i < c->n; i++)
        json_array_append_new(list, comparison_json(c, &c->list[i]));
    json_t *o = json_pack(
        "{s:O, s:O, s:s, s:f, s:f, s:O, s:o}", "recipe", json_object_get(c->runs[0].identity, "recipe"), "data",
        json_object_get(c->runs[0].identity, "data"), "metric", c->metric->name, "unit", c->metric->unit,
        "difference_to_tell", c->difference, "differ_in", c->differences, "comparisons", list);
    json_dumpf(o, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(o);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int read_folders(comparisons *c, const char *const *folders)
{
    int code = 0;
    while (code == 0 && c->n_runs < MAX_FOLDERS && folders[c->n_runs]) {
        code = runs_open(&c->runs[c->n_runs], folders[c->n_runs], folders, "compare");
        c->n_runs++;
    }
    return code ? code : runs_check(c->runs, c->n_runs);
}

static int run_compare(int argc, char **argv)
{
    compare_asks asks = {0};
    const char *folders[MAX_FOLDERS + 1] = {NULL};
    options_end end = options_parse(&compare_command, &asks, argc, argv, folders);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!folders[0])
        return complain(GR_USAGE, "compare", "which folders? those of 'gradus sweep --out'");
    int code = folders_check_apart(folders, "compare");
    if (code)
        return code;
    comparisons *c = calloc(1, sizeof *c);
    if (!c)
        return complain(GR_NO_MEMORY, "compare", "out of host memory");
    c->metric = &metrics[asks.metric.value];
    c->difference = asks.difference > 0 ? asks.difference : 1;
    code = read_folders(c, folders);
    if (code == 0) {
        find_groups(c);
        c->differences = runs_differences(c->runs, c->n_runs);
        code = compare_all(c);
    }
    if (code == 0)
        (asks.json ? print_json : print_all)(c);
    for (int i = 0; i < c->n_runs; i++)
        runs_close(&c->runs[i]);
    json_decref(c->differences);
    free(c);
    return code;
}

static const option compare_options[] = {
    CHOICE_OPTION("metric", "KEY", offsetof(compare_asks, metric), metrics,
                  "what of a row is compared (default: test_accuracy)"),
    POSITIVE_OPTION("difference", "X", offsetof(compare_asks, difference),
                    "how many seeds it takes to tell a difference of X, in points of accuracy or the metric's own unit "
                    "(default: 1)"),
    FLAG_OPTION("json", offsetof(compare_asks, json), "print the comparisons as one line of JSON"),
    {0},
};

static const option_group groups[] = {{"Options", compare_options, NULL, 0}, {0}};

const gradus_command compare_command = {
    .name = "compare",
    .purpose = "which differences between sweeps are shown, by seed",
    .usage = "compare FOLDER... [options]",
    .operand = "FOLDER",
    .operands = MAX_FOLDERS,
    .about =
        "Compare sweeps of one recipe and data set by their folders: the same optimizer in two folders, or the "
        "optimizers of one folder with each other. Runs are paired by batch size and seed, averaged over the batch "
        "sizes of a seed, and an interval is drawn over seeds: fifteen pairs that share three seeds are three. Many "
        "comparisons are corrected for (Holm 1979). Where nothing is shown it says how many seeds would show it.",
    .examples = "compare standard augmented --difference 2\ncompare runs --metric samples_per_second --json",
    .groups = groups,
    .run = run_compare,
};
