/* cifar10.h - the reader of CIFAR-10's files, which may be told that they are shorter than those of the real set. */
#ifndef GRADUS_CIFAR10_H
#define GRADUS_CIFAR10_H

#include "data/data.h"

/* gr_cifar10 of files of so many records each: few, so that a fuzzer's inputs can be whole sets. */
gr_split gr__cifar10_of(gr_context *ctx, const char *path, int64_t records);

#endif
