/* class_of.h - the class that logits say, for every reference that counts classes. */
#ifndef GRADUS_REF_CLASS_OF_H
#define GRADUS_REF_CLASS_OF_H

#include "kernels/ref/ref.h"

/* The first largest of C logits, or z > 0 for a single one; INT64_MIN, which no label is, where a logit is NaN. */
static inline int64_t class_of(const real *z, int64_t C)
{
    int64_t best = C == 1 ? z[0] > 0 : 0;
    for (int64_t j = 0; j < C; j++) {
        if (isnan(z[j]))
            return INT64_MIN;
        if (C > 1 && z[j] > z[best])
            best = j;
    }
    return best;
}

#endif
