/* bench_verdicts.c - see bench_verdicts.h. */
#include "bench/bench_verdicts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"

const verdict_sides two_builds = {"before", "after"};

/* --- for people --------------------------------------------------------------------------------------------------- */

static bool same_case(const json_t *a, const json_t *b)
{
    return strcmp(text_at(a, "op"), text_at(b, "op")) == 0 && strcmp(text_at(a, "row"), text_at(b, "row")) == 0;
}

static void print_heading(const json_t *row, const verdict_sides *sides)
{
    char before[32], after[32];
    snprintf(before, sizeof before, "%s ms", sides->before);
    snprintf(after, sizeof after, "%s ms", sides->after);
    printf("\n%s: %s\n", text_at(row, "op"), text_at(row, "case"));
    print_wrapped(stdout, text_at(row, "row"), 0, 2);
    printf("%6s %-8s %10s %10s %7s %17s  %s\n", "batch", "pass", before, after, "ratio", "99 % interval", "verdict");
}

static void print_compared(const bench_compared *c, int decided)
{
    const json_t *batch = json_object_get(c->row, "batch");
    char size[32] = "-", interval[32] = "-";
    if (json_is_integer(batch))
        snprintf(size, sizeof size, "%lld", (long long)json_integer_value(batch));
    if (isfinite(c->verdict.low) && isfinite(c->verdict.high) && c->verdict.high < 100)
        snprintf(interval, sizeof interval, "%.3f to %.3f", c->verdict.low, c->verdict.high);
    printf("%6s %-8s %10.4f %10.4f %7.3f %17s  %s\n", size, text_at(c->row, "pass"), 1e3 * c->before, 1e3 * c->after,
           c->verdict.ratio, interval, verdict_names[decided]);
}

static void print_table(const bench_compared *list, int n, const verdict_sides *sides, const int *decided)
{
    int count[3] = {0};
    for (int i = 0; i < n; i++) {
        if (i == 0 || !same_case(list[i].row, list[i - 1].row))
            print_heading(list[i].row, sides);
        print_compared(&list[i], decided[i]);
        count[decided[i]]++;
    }
    printf("\n%d slower, %d faster, %d undecided\n", count[VERDICT_SLOWER], count[VERDICT_FASTER],
           count[VERDICT_UNDECIDED]);
    printf("ratio: %s / %s\n", sides->after, sides->before);
    print_wrapped(stdout,
                  "Rounds are what is counted, not samples; faster and slower are at 1 %, after "
                  "Holm's correction for all lines together. undecided: a difference may be there or not, and the "
                  "interval says how large it could be.",
                  0, 0);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static void print_json(const bench_compared *list, int n, const verdict_sides *sides, const int *decided)
{
    for (int i = 0; i < n; i++) {
        const bench_compared *c = &list[i];
        json_t *o =
            json_pack("{s:s, s:s, s:s, s:O, s:s, s:[s, s], s:f, s:f, s:[i, i], s:o, s:o, s:o, s:o, s:s}", "op",
                      text_at(c->row, "op"), "case", text_at(c->row, "case"), "row", text_at(c->row, "row"), "batch",
                      json_object_get(c->row, "batch"), "pass", text_at(c->row, "pass"), "sides", sides->before,
                      sides->after, "before_ms", 1e3 * c->before, "after_ms", 1e3 * c->after, "rounds", c->rounds[0],
                      c->rounds[1], "ratio", json_real_or_null(c->verdict.ratio), "ratio_low_99",
                      json_real_or_null(c->verdict.low), "ratio_high_99", json_real_or_null(c->verdict.high), "p",
                      json_real_or_null(c->verdict.p), "verdict", verdict_names[decided[i]]);
        json_dumpf(o, stdout, ROW_FORMAT);
        putchar('\n');
        json_decref(o);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

int verdicts_print(const bench_compared *list, int n, const verdict_sides *sides, bool json)
{
    bench_verdict *verdicts = calloc((size_t)n + 1, sizeof *verdicts);
    int *decided = calloc((size_t)n + 1, sizeof *decided), code = 0;
    for (int i = 0; i < n && verdicts; i++)
        verdicts[i] = list[i].verdict;
    if (verdicts && decided && judge_together(verdicts, n, decided))
        (json ? print_json : print_table)(list, n, sides, decided);
    else
        code = complain(GR_NO_MEMORY, "bench", "out of host memory for %d verdicts", n);
    free(verdicts);
    free(decided);
    return code;
}

void verdicts_tell_apart(const json_t *before, const json_t *after)
{
    static const char *const keys[] = {"device", "isa",      "threads", "pinned",   "version",
                                       "commit", "compiler", "host",    "processor"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *a = json_object_get(before, keys[i]), *b = json_object_get(after, keys[i]);
        if (json_equal(a, b))
            continue;
        char *x = json_text(a, JSON_ENCODE_ANY), *y = json_text(b, JSON_ENCODE_ANY);
        printf("%s: %s, then %s\n", keys[i], x ? x : "unknown", y ? y : "unknown");
        free(x);
        free(y);
    }
}
