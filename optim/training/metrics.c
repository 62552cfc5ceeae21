/* metrics.c - what a confusion matrix says. */
#include "optim/training/evaluate.h"

#include <math.h>

/* 0 where there is nothing to divide by, as scikit-learn has it. */
static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* Of class i alone. */
static void of_class(const double *counts, int classes, int i, double *precision, double *recall, double *f1)
{
    double labelled = 0, said = 0, right = counts[i * classes + i];
    for (int j = 0; j < classes; j++) {
        labelled += counts[i * classes + j];
        said += counts[j * classes + i];
    }
    *precision = share(right, said);
    *recall = share(right, labelled);
    *f1 = share(2 * right, said + labelled);
}

/* Whether class i is among the labels or the answers. */
static bool occurs(const double *counts, int classes, int i)
{
    double sum = 0;
    for (int j = 0; j < classes; j++)
        sum += counts[i * classes + j] + counts[j * classes + i];
    return sum > 0;
}

void gr__confusion_metrics(const double *counts, int classes, gr_metrics *m)
{
    int first = classes == 2, n = 0; /* of two classes, the second is the one that is looked for */
    double right = 0;
    m->precision = m->recall = m->f1 = 0;
    for (int i = 0; i < classes; i++)
        right += counts[i * classes + i];
    for (int i = first; i < classes; i++) {
        double precision, recall, f1;
        if (!occurs(counts, classes, i))
            continue;
        of_class(counts, classes, i, &precision, &recall, &f1);
        m->precision += precision;
        m->recall += recall;
        m->f1 += f1;
        n++;
    }
    m->accuracy = share(right, (double)m->samples);
    m->precision = share(m->precision, n);
    m->recall = share(m->recall, n);
    m->f1 = share(m->f1, n);
}
