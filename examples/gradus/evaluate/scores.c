/* scores.c - see scores.h. */
#include "evaluate/scores.h"

#include <math.h>
#include <stdlib.h>

int64_t scores_labelled(const scores *s, int i)
{
    int64_t sum = 0;
    for (int j = 0; j < s->classes; j++)
        sum += s->counts[i * s->classes + j];
    return sum;
}

int64_t scores_said(const scores *s, int i)
{
    int64_t sum = 0;
    for (int j = 0; j < s->classes; j++)
        sum += s->counts[j * s->classes + i];
    return sum;
}

static double share(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : (double)NAN;
}

double scores_recall(const scores *s, int i)
{
    return share(s->counts[i * s->classes + i], scores_labelled(s, i));
}

double scores_precision(const scores *s, int i)
{
    return share(s->counts[i * s->classes + i], scores_said(s, i));
}

double scores_f1(const scores *s, int i)
{
    return share(2 * s->counts[i * s->classes + i], scores_labelled(s, i) + scores_said(s, i));
}

static int surest_first(const void *a, const void *b)
{
    const mistake *x = a, *y = b;
    if (x->probability < y->probability || x->probability > y->probability)
        return x->probability < y->probability ? 1 : -1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

int scores_answer(const double *p, int classes)
{
    int best = 0;
    for (int i = 1; i < classes; i++)
        best = p[i] > p[best] ? i : best;
    return best;
}

/* Wilson's interval: unlike one of the standard error it holds for few samples, and for all of them right. */
static void interval(scores *s)
{
    const double z = 1.959964, n = (double)s->n, p = s->accuracy;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double width = z / (1 + z * z / n) * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    s->low = fmax(0, middle - width);
    s->high = fmin(1, middle + width);
}

bool scores_make(scores *s, const double *p, const int *labels, int64_t n, int classes)
{
    *s = (scores){.classes = classes, .n = n};
    s->counts = calloc((size_t)classes * (size_t)classes, sizeof *s->counts);
    s->mistakes = malloc((size_t)(n + 1) * sizeof *s->mistakes);
    if (!s->counts || !s->mistakes)
        return false;
    for (int64_t i = 0; i < n; i++) {
        const int said = scores_answer(p + i * classes, classes);
        s->counts[labels[i] * classes + said]++;
        s->right += said == labels[i];
        if (said != labels[i])
            s->mistakes[s->n_mistakes++] = (mistake){i, labels[i], said, p[i * classes + said]};
    }
    qsort(s->mistakes, (size_t)s->n_mistakes, sizeof *s->mistakes, surest_first);
    for (int i = 1; i < classes; i++)
        s->common = scores_labelled(s, i) > scores_labelled(s, s->common) ? i : s->common;
    s->common_share = share(scores_labelled(s, s->common), n);
    s->accuracy = share(s->right, n);
    s->standard_error = sqrt(s->accuracy * (1 - s->accuracy) / (double)n);
    interval(s);
    return true;
}

void scores_close(scores *s)
{
    free(s->counts);
    free(s->mistakes);
}
