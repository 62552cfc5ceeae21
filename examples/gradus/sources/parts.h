/* parts.h - gradus data check of a set that brings its own parts, such as CIFAR-10's files. */
#ifndef GRADUS_PARTS_H
#define GRADUS_PARTS_H

#include "sources/format.h"

/* The format of such a set at path; NULL: it is none. */
const format *parts_format(const char *path);

/* Reads it and tells, as one line of JSON or for people. Returns the exit code. */
int parts_check(gr_context *ctx, const format *f, const char *path, bool json);

#endif
