/* host_memory.c - allocation by the system, in huge pages where they pay; copies by memcpy. */
#include "kernels/devices/host_memory.h"

#include <string.h>
#include <sys/mman.h>

#include "core/float_mode.h"
#include "core/parallel.h"

enum { PAGE = 4 << 10, HUGE_PAGE = 2 << 20 }; /* bytes: the smallest page of any processor, and a huge one of most */

typedef struct {
    volatile char *p;
    size_t bytes;
} block;

static void touch_chunk(void *arg, int64_t chunk)
{
    const block *b = arg;
    const size_t begin = (size_t)chunk * HUGE_PAGE, end = b->bytes - begin > HUGE_PAGE ? begin + HUGE_PAGE : b->bytes;
    for (size_t at = begin; at < end; at += PAGE)
        b->p[at] = 0;
}

/* Has the system give every page now, to all threads at once: else the first update would wait for them one by one. */
static void touch(gr_device *d, void *p, size_t bytes)
{
    block b = {p, bytes};
    gr_parallel_for(&(gr_exec){.pool = d->pool}, (int64_t)((bytes + HUGE_PAGE - 1) / HUGE_PAGE), touch_chunk, &b);
}

/*
 * Straight from the system: zero-filled, and given back at once when it is freed. Large blocks ask for huge pages,
 * which spare a sweep over 160 MB of dense weights most of its TLB misses.
 */
static void *host_alloc(gr_device *d, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    if (bytes >= HUGE_PAGE)
        madvise(p, bytes, MADV_HUGEPAGE); /* advice: without it things only get slower */
    if (d->pool)
        touch(d, p, bytes);
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

enum { ADD_CHUNK = 1 << 16 }; /* elements */

typedef struct {
    void *dst;
    const void *src;
    int64_t count;
    bool wide;
} addition;

static void add_chunk(void *arg, int64_t chunk)
{
    const addition *a = arg;
    const int64_t begin = chunk * ADD_CHUNK, end = begin + ADD_CHUNK < a->count ? begin + ADD_CHUNK : a->count;
    if (a->wide)
        for (int64_t i = begin; i < end; i++)
            ((double *)a->dst)[i] += ((const double *)a->src)[i];
    else
        for (int64_t i = begin; i < end; i++)
            ((float *)a->dst)[i] += ((const float *)a->src)[i];
}

/* On a CPU device by its threads, in the mode of its kernels. */
static bool host_add(gr_device *d, void *dst, const void *src, int64_t count)
{
    addition a = {dst, src, count, d->real == GR_F64};
    gr_parallel_for(&(gr_exec){.pool = d->pool}, (count + ADD_CHUNK - 1) / ADD_CHUNK, add_chunk, &a);
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
