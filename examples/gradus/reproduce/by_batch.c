/* by_batch.c - an experiment's table by batch size, as the thesis has it; see tell.h. */
#include <math.h>
#include <string.h>

#include "reproduce/tell.h"
#include "terminal/text.h"

/* Characters of a column, so that all of them fit a terminal. */
static int width_of(const char *head)
{
    enum { NARROWEST = 5 };
    const int length = (int)strlen(head);
    return length > NARROWEST ? length : NARROWEST;
}

/* Mean of a column over the seeds of a batch size; NAN: no run has it. */
static double mean_of(const evidence *e, const run *of, const metric *m)
{
    sample s = {0};
    for (int i = 0; i < e->n; i++) {
        const double value = run_value(&e->runs[i], m);
        if (run_same_line(of, &e->runs[i]) && of->batch == e->runs[i].batch && !isnan(value))
            sample_add(&s, value);
    }
    return s.n ? s.mean : NAN;
}

static bool any_has(const evidence *e, const metric *m)
{
    bool has = false;
    for (int i = 0; i < e->n; i++)
        has = has || !isnan(run_value(&e->runs[i], m));
    return has;
}

static void print_cell(const char *head, double x)
{
    if (isnan(x))
        printf(" %*s", width_of(head), "-");
    else
        printf(" %*.*f", width_of(head), fabs(x) < 100 ? 1 : 0, x);
}

/* What a publication gives for a batch size; NAN: nothing. */
static double published(const findings *f, const figures *from, int64_t batch)
{
    for (int i = 0; i < f->n_figures; i++)
        if (f->figures[i].from == from && f->figures[i].published.batch == batch)
            return f->figures[i].published.value;
    return NAN;
}

static void print_heads(const evidence *e)
{
    printf("\n  batch");
    for (const column *c = e->of->table; c->metric; c++)
        if (any_has(e, metric_named(c->metric)))
            printf(" %*s", width_of(c->head), c->head);
    for (const figures *from = e->of->figures; from->experiment; from++)
        printf(" %*s", width_of(from->series), from->series);
    putchar('\n');
}

static void print_batch(const evidence *e, const findings *f, const run *r)
{
    printf("%7lld", (long long)r->batch);
    for (const column *c = e->of->table; c->metric; c++)
        if (any_has(e, metric_named(c->metric)))
            print_cell(c->head, mean_of(e, r, metric_named(c->metric)));
    for (const figures *from = e->of->figures; from->experiment; from++)
        print_cell(from->series, published(f, from, r->batch));
    putchar('\n');
}

/* What the columns are, in words. */
static void print_meanings(const evidence *e)
{
    char text[1024] = "Means over seeds.";
    for (const column *c = e->of->table; c->metric; c++) {
        const size_t length = strlen(text);
        if (any_has(e, metric_named(c->metric)))
            snprintf(text + length, sizeof text - length, " %s: %s.", c->head, metric_named(c->metric)->text);
    }
    const size_t length = strlen(text);
    snprintf(text + length, sizeof text - length, " The last columns are published: %s.", e->of->figures[0].quantity);
    print_wrapped(stdout, text, 0, 0);
}

void tell_by_batch(const evidence *e, const findings *f)
{
    if (!e->of->table[0].metric || e->n == 0)
        return;
    print_heads(e);
    for (int i = 0; i < e->n; i++)
        if (evidence_first(e, i, true))
            print_batch(e, f, &e->runs[i]);
    print_meanings(e);
}
