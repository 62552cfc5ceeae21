/* probabilities.c - see probabilities.h. */
#include "predict/probabilities.h"

#include <math.h>

int probabilities_classes(int logits)
{
    return logits == 1 ? 2 : logits;
}

bool probabilities_of(const double *z, int logits, double *p)
{
    if (logits == 1) {
        p[1] = 1 / (1 + exp(-z[0]));
        p[0] = 1 - p[1];
        return !isnan(p[1]);
    }
    double most = z[0], sum = 0;
    for (int i = 1; i < logits; i++)
        most = fmax(most, z[i]);
    for (int i = 0; i < logits; i++)
        sum += p[i] = exp(z[i] - most);
    for (int i = 0; i < logits; i++)
        p[i] /= sum;
    return isfinite(sum);
}
