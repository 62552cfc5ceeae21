/* findings.c - see findings.h. */
#include "reproduce/findings.h"

#include <math.h>

const char *verdict_word(verdict v)
{
    static const char *const words[] = {[NO_RUNS] = "no runs yet",
                                        [ONE_SEED] = "one seed",
                                        [AGREES] = "agrees",
                                        [DISAGREES] = "disagrees",
                                        [NOT_SHOWN] = "not shown"};
    return words[v];
}

double one_more(const sample *s)
{
    return s->n < 2 ? NAN : student_t_975(s->n - 1) * sample_deviation(s) * sqrt(1 + 1.0 / s->n);
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

static finding_figure judge_figure(const evidence *e, const figures *from, const figure *published)
{
    finding_figure f = {.from = from, .published = *published};
    side ours = from->ours;
    ours.batch = published->batch;
    for (int i = 0; i < e->n; i++)
        if (side_has(&ours, &e->runs[i]))
            sample_add(&f.ours, run_value(&e->runs[i], metric_named(NULL)));
    if (f.ours.n > 1)
        f.verdict = fabs(published->value - f.ours.mean) <= one_more(&f.ours) ? AGREES : DISAGREES;
    else
        f.verdict = f.ours.n ? ONE_SEED : NO_RUNS;
    return f;
}

static int judge_figures(const evidence *e, findings *f)
{
    figure list[FIGURES_MAX];
    for (const figures *from = e->of->figures; from->experiment; from++) {
        const int n = figures_read(from, list);
        if (n < 0)
            return GR_BAD_DATA;
        for (int i = 0; i < n; i++)
            f->figures[f->n_figures++] = judge_figure(e, from, &list[i]);
    }
    return 0;
}

/* --- claims ------------------------------------------------------------------------------------------------------- */

/* Whether a difference is none: all of its interval, or none of it, lies within the claim's bounds. */
static verdict judge_equality(const finding_claim *c)
{
    const double mean = fabs(c->found.differences.mean), half = sample_half_width(&c->found.differences);
    return mean + half <= c->of->within ? AGREES : mean - half > c->of->within ? DISAGREES : NOT_SHOWN;
}

static verdict judge_claim(const finding_claim *c)
{
    const sample *s = &c->found.differences;
    if (s->n < 2)
        return s->n ? ONE_SEED : NO_RUNS;
    if (c->of->expected == EQUAL)
        return judge_equality(c);
    if (!(c->corrected < 0.05))
        return NOT_SHOWN;
    return (s->mean > 0) == (c->of->expected == ABOVE) ? AGREES : DISAGREES;
}

static int judge_claims(const evidence *e, findings *f)
{
    double p[MOST_CLAIMS], corrected[MOST_CLAIMS];
    for (const claim *of = e->of->claims; of->says; of++) {
        finding_claim *c = &f->claims[f->n_claims];
        *c = (finding_claim){.of = of, .metric = metric_named(of->metric)};
        if (!evidence_compare(e, &of->a, &of->b, c->metric, &c->found))
            return complain(GR_NO_MEMORY, "reproduce", "out of host memory for the pairs of runs");
        p[f->n_claims++] = of->expected == EQUAL ? NAN : sample_p(&c->found.differences);
    }
    holm(p, corrected, f->n_claims);
    for (int i = 0; i < f->n_claims; i++) {
        f->claims[i].corrected = corrected[i];
        f->claims[i].verdict = judge_claim(&f->claims[i]);
    }
    return 0;
}

int findings_make(const evidence *e, findings *f)
{
    *f = (findings){0};
    const int code = judge_figures(e, f);
    return code ? code : judge_claims(e, f);
}
