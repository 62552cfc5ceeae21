/* doubles.h - the values of a tensor on the host, whatever the device computes in. */
#ifndef GRADUS_DOUBLES_H
#define GRADUS_DOUBLES_H

#include <gradus.h>

/* A tensor of floats, or of doubles as on the device ref, as doubles. False: the context tells, or no memory. */
bool doubles_of(const gr_tensor *t, double *values);

#endif
