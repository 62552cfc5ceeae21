/* zero.h - options in which 0 stands for a usual value. */
#ifndef GRADUS_ZERO_H
#define GRADUS_ZERO_H

#include <math.h>

/* What an option's number means: the usual value for 0, 0 for GR_ZERO. */
static inline double gr__or(double value, double usual)
{
    return value != 0 ? value : signbit(value) ? 0 : usual;
}

#endif
