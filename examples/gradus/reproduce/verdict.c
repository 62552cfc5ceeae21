/* verdict.c - what came of an experiment: the table, the verdict, the line of JSON; see tell.h. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "reproduce/tell.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"

/* --- the table ---------------------------------------------------------------------------------------------------- */

/* The metric of the table: that of the first claim. */
static const metric *metric_of_table(const experiment *e)
{
    return metric_named(e->claims[0].metric);
}

/* The published accuracy of a run's line and batch size. NULL: there is none. */
static const figure *figure_of(const findings *f, const run *r)
{
    for (int i = 0; i < f->n_figures; i++) {
        const finding_figure *g = &f->figures[i];
        if (strstr(g->from->quantity, "accuracy") && g->published.batch == r->batch && side_has(&g->from->ours, r))
            return &g->published;
    }
    return NULL;
}

static void print_batch(const evidence *e, const findings *f, int first)
{
    const metric *m = metric_of_table(e->of);
    const run *r = &e->runs[first];
    sample ours = {0};
    char half[32] = "", range[32] = "", updates[24] = "-", batch[24] = "-", mean[32] = "-";
    for (int i = first; i < e->n; i++) {
        const double value = run_value(&e->runs[i], m);
        if (run_same_line(r, &e->runs[i]) && r->batch == e->runs[i].batch && !isnan(value))
            sample_add(&ours, value);
    }
    if (ours.n > 0) /* runs without the metric lead up to others that have it */
        snprintf(mean, sizeof mean, "%.1f", ours.mean);
    if (ours.n > 1) {
        snprintf(half, sizeof half, "+- %.1f", sample_half_width(&ours));
        snprintf(range, sizeof range, "%.1f to %.1f", ours.mean - one_more(&ours), ours.mean + one_more(&ours));
    }
    const figure *published = figure_of(f, r);
    if (json_is_integer(json_object_get(r->row, "updates")))
        snprintf(updates, sizeof updates, "%lld", (long long)json_integer_value(json_object_get(r->row, "updates")));
    if (r->batch)
        snprintf(batch, sizeof batch, "%lld", (long long)r->batch);
    printf("  %5s %9s %5d %9s%s%s", batch, updates, ours.n, mean, *half ? " " : "", half);
    if (published)
        printf("%*s%-16s %s%g", 10 - (int)strlen(half), "", range, published->approximate ? "about " : "",
               published->value);
    putchar('\n');
}

static void print_table(const evidence *e, const findings *f)
{
    if (e->n == 0)
        return;
    const bool accuracy = metric_of_table(e->of) == metric_named(NULL);
    printf("\n  batch   updates  runs  measured +- 95 %%%s\n", accuracy ? "  one more run     published" : "");
    for (int i = 0; i < e->n; i++) {
        if (!evidence_first(e, i, false))
            continue;
        const run *r = &e->runs[i];
        printf("%s%s%s%s%s\n", r->arm->line, *r->optimizer ? ", " : "", r->optimizer, *r->variant ? ", " : "",
               r->variant);
        for (int j = i; j < e->n; j++)
            if (run_same_line(r, &e->runs[j]) && evidence_first(e, j, true))
                print_batch(e, f, j);
    }
    printf("measured: %s%s\n", metric_of_table(e->of)->text,
           accuracy ? "; one more run: where 19 of 20 would lie" : "");
}

/* The figures of a series that is of another quantity than the table. */
static void print_series(const findings *f, const figures *from)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "%s, %s, published by batch size:", from->series, from->quantity);
    for (int i = 0; i < f->n_figures; i++)
        if (f->figures[i].from == from)
            length += snprintf(text + length, sizeof text - (size_t)length, "  %lld: %g",
                               (long long)f->figures[i].published.batch, f->figures[i].published.value);
    print_wrapped(stdout, text, 0, 2);
}

static void print_context(const evidence *e, const findings *f)
{
    for (const figures *from = e->of->figures; from->experiment; from++)
        if (!strstr(from->quantity, "accuracy") && !e->of->table[0].metric) /* else it stands in that table */
            print_series(f, from);
}

/* --- the verdict -------------------------------------------------------------------------------------------------- */

/* A word of judgement, and what it is about. */
static void print_judged(verdict v, const char *words, ...) __attribute__((format(printf, 2, 3)));

static void print_judged(verdict v, const char *words, ...)
{
    enum { COLUMN = 14 };
    char text[512];
    va_list args;
    va_start(args, words);
    vsnprintf(text, sizeof text, words, args);
    va_end(args);
    printf("  %-*s", COLUMN - 2, verdict_word(v));
    print_wrapped(stdout, text, COLUMN, COLUMN);
}

static void print_figure(const finding_figure *g)
{
    const char *about = g->published.approximate ? "about " : "", *series = g->from->series;
    const long long batch = g->published.batch;
    const sample *s = &g->ours;
    if (s->n < 2)
        print_judged(g->verdict, "%s%g %% at batch size %lld (%s)", about, g->published.value, batch, series);
    else
        print_judged(g->verdict, "%s%g %% at batch size %lld (%s): one more run of ours would give %.1f +- %.1f, by %d",
                     about, g->published.value, batch, series, s->mean, one_more(s), s->n);
}

/* "+3.4 +- 7.5", with what there is of it. */
static const char *difference_text(const sample *s, char text[64])
{
    char half[32] = "";
    if (s->n > 1)
        snprintf(half, sizeof half, " +- %.1f", sample_half_width(s));
    snprintf(text, 64, "%+.1f%s", s->mean, half);
    return text;
}

static void print_claim(const finding_claim *c)
{
    const sample *s = &c->found.differences;
    char difference[64], more[64] = "";
    if (c->verdict == NOT_SHOWN && c->of->expected == EQUAL)
        snprintf(more, sizeof more, "; within %g it would agree", c->of->within);
    else if (c->of->expected != EQUAL && s->n > 1 && s->squares > 0) /* bytes are the same for every seed */
        snprintf(more, sizeof more, "; p = %.2g", c->corrected);
    if (s->n == 0)
        print_judged(c->verdict, "%s", c->of->says);
    else
        print_judged(c->verdict, "%s: %s (%s; %d seed%s%s)", c->of->says, difference_text(s, difference),
                     c->metric->text, s->n, s->n == 1 ? "" : "s", more);
}

static void print_claims(const findings *f, bool corrected)
{
    bool any = false;
    for (int i = 0; i < f->n_claims; i++) {
        if (f->claims[i].of->corrected != corrected)
            continue;
        if (corrected && !any)
            printf("Asked beyond it\n");
        any = true;
        print_claim(&f->claims[i]);
    }
}

static int count_constant(const evidence *e)
{
    int n = 0;
    for (int i = 0; i < e->n; i++)
        n += runs_is_constant(e->runs[i].row);
    return n;
}

static int count_went_bad(const evidence *e)
{
    int n = 0;
    for (int i = 0; i < e->n_folders; i++)
        n += runs_went_bad(&e->folders[i], NULL);
    return n;
}

static int count_side_by_side(const evidence *e)
{
    int n = 0;
    for (int i = 0; i < e->n; i++)
        n += json_integer_value(json_object_get(e->runs[i].row, SIDE_BY_SIDE)) > 1;
    return n;
}

static void print_notes(const evidence *e)
{
    const int constant = count_constant(e), bad = count_went_bad(e);
    putchar('\n');
    if (constant)
        printf("%d of %d runs give every test sample the same answer.\n", constant, e->n);
    if (bad)
        printf("The numbers of %d more run%s went bad; they are left out.\n", bad, bad == 1 ? "" : "s");
    print_wrapped(stdout,
                  "Differences are paired by seed and averaged over the batch sizes of a seed; +- is the 95 % interval "
                  "over seeds (Student's t); one more run would lie within its range 19 times in 20. A "
                  "difference agrees or disagrees where p is below 0.05 after Holm's correction for all of them.",
                  0, 0);
    const int beside = count_side_by_side(e);
    if (e->of->timed && beside)
        printf("%d of %d runs had others at work beside them (--jobs): no run's own speed.\n", beside, e->n);
    if (e->of->timed)
        print_wrapped(stdout, "Times say something only of a machine that did nothing else.", 0, 0);
    if (e->trial)
        print_wrapped(stdout,
                      "A TRIAL: built-in pictures, or runs cut short by --updates. This is not the published protocol, "
                      "and what agrees agrees by chance.",
                      0, 0);
}

void tell_findings(const evidence *e, const findings *f)
{
    printf("%s: ", e->of->name);
    print_wrapped(stdout, e->of->title, (int)strlen(e->of->name) + 2, 2);
    print_table(e, f);
    print_context(e, f);
    tell_by_batch(e, f);
    printf("\nVerdict. ");
    print_wrapped(stdout, e->of->says, 9, 0);
    for (int i = 0; i < f->n_figures; i++)
        if (!f->figures[i].from->context)
            print_figure(&f->figures[i]);
    print_claims(f, false);
    print_claims(f, true);
    print_notes(e);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *claim_json(const finding_claim *c)
{
    const sample *s = &c->found.differences;
    return json_pack("{s:s, s:b, s:s, s:i, s:i, s:o, s:o, s:o, s:s}", "says", c->of->says, "corrected",
                     c->of->corrected, "metric", c->metric->name, "seeds", s->n, "batches", c->found.batches,
                     "difference", json_real_or_null(s->n ? s->mean : NAN), "half_width_95",
                     json_real_or_null(sample_half_width(s)), "p_holm", json_real_or_null(c->corrected), "verdict",
                     verdict_word(c->verdict));
}

static json_t *figure_json(const finding_figure *g)
{
    return json_pack(
        "{s:s, s:s, s:I, s:f, s:b, s:i, s:o, s:o, s:s}", "quantity", g->from->quantity, "series", g->from->series,
        "batch", (json_int_t)g->published.batch, "published", g->published.value, "context", g->from->context, "seeds",
        g->ours.n, "measured", json_real_or_null(g->ours.n ? g->ours.mean : NAN), "one_more_run",
        json_real_or_null(one_more(&g->ours)), "verdict", g->from->context ? "context" : verdict_word(g->verdict));
}

void tell_json(const evidence *e, const findings *f)
{
    json_t *claims = json_array(), *list = json_array();
    for (int i = 0; i < f->n_claims; i++)
        json_array_append_new(claims, claim_json(&f->claims[i]));
    for (int i = 0; i < f->n_figures; i++)
        json_array_append_new(list, figure_json(&f->figures[i]));
    json_t *o =
        json_pack("{s:s, s:s, s:b, s:i, s:i, s:o, s:o}", "experiment", e->of->name, "publication", e->of->publication,
                  "trial", e->trial, "runs", e->n, "constant", count_constant(e), "figures", list, "claims", claims);
    json_dumpf(o, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(o);
}
