/* probabilities.h - from a network's answer to probabilities of classes. */
#ifndef GRADUS_PROBABILITIES_H
#define GRADUS_PROBABILITIES_H

#include <stdbool.h>

/* Classes that so many logits tell apart: a single one tells two. */
int probabilities_classes(int logits);

/*
 * Softmax of the logits, sigmoid of a single one, into p[probabilities_classes(logits)]. False: they are no numbers, as
 * where the weights went bad.
 */
bool probabilities_of(const double *z, int logits, double *p);

#endif
