/*
 * poison.h - memory that nobody may touch, told to AddressSanitizer where it is there.
 */
#ifndef GRADUS_SIMT_POISON_H
#define GRADUS_SIMT_POISON_H

#include "kernels/simt/fiber.h"

#if defined(GR__SIMT_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static inline void gr__simt_poison(const void *p, size_t bytes)
{
#if defined(GR__SIMT_ASAN)
    __asan_poison_memory_region(p, bytes);
#else
    (void)p, (void)bytes;
#endif
}

static inline void gr__simt_unpoison(const void *p, size_t bytes)
{
#if defined(GR__SIMT_ASAN)
    __asan_unpoison_memory_region(p, bytes);
#else
    (void)p, (void)bytes;
#endif
}

#endif
