/* tell.h - the result of one run for people. */
#ifndef GRADUS_TELL_H
#define GRADUS_TELL_H

#include "train/row.h"

/* Prints it on stdout. */
void tell_result(const result *r);

#endif
