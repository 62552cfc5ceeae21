/* host_memory.c - allocation by the system, in huge pages where they pay; copies by memcpy. */
#include "kernels/devices/host_memory.h"

#include <string.h>
#include <sys/mman.h>

#include "core/float_mode.h"

/*
 * Straight from the system: zero-filled without touching a page, and given back at once when it is freed. Large blocks
 * ask for huge pages, which spare a sweep over 160 MB of dense weights most of its TLB misses.
 */
static void *host_alloc(gr_device *d, size_t bytes)
{
    (void)d;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= (size_t)2 << 20)
        madvise(p, bytes, MADV_HUGEPAGE); /* advice: without it things only get slower */
    return p;
}

static void host_free(gr_device *d, void *p, size_t bytes)
{
    (void)d;
    munmap(p, bytes);
}

static bool host_copy(gr_device *d, void *dst, const void *src, size_t bytes)
{
    (void)d;
    memcpy(dst, src, bytes);
    return true;
}

/* On a CPU device in the mode of its kernels. */
static bool host_add(gr_device *d, void *dst, const void *src, int64_t count)
{
    const uint64_t mode = d->pool ? gr__float_mode_begin() : 0;
    for (int64_t i = 0; i < count; i++) {
        if (d->real == GR_F64)
            ((double *)dst)[i] += ((const double *)src)[i];
        else
            ((float *)dst)[i] += ((const float *)src)[i];
    }
    if (d->pool)
        gr__float_mode_end(mode);
    return true;
}

void gr__use_host_memory(gr_device *d)
{
    d->alloc = host_alloc;
    d->free = host_free;
    d->upload = host_copy;
    d->download = host_copy;
    d->add_real = host_add;
    d->on_host = true;
}
