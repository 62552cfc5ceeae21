/* handles.c - headers of tensors at addresses that are never used again; see handles.h. */
#include "core/handles.h"

#include <string.h>
#include <sys/mman.h>

#include "core/context.h"

#define REGION ((size_t)1 << 30) /* bytes; regions begin at multiples of it, so that a header finds its root */
#define WINDOW ((size_t)1 << 20) /* bytes that are taken from the system, and go back to it, together */
enum { WINDOWS = 1024, PER_WINDOW = (1 << 20) / sizeof(gr_tensor), SLOTS = (WINDOWS - 1) * PER_WINDOW };

/* The root, in the first window of its region: the only one that holds no headers. */
struct gr_region {
    gr_context *ctx;
    gr_region *older;
    int32_t alive[WINDOWS]; /* headers in use, by window */
};

static gr_region *region_of(const gr_tensor *t)
{
    return (gr_region *)((uintptr_t)t & ~(uintptr_t)(REGION - 1));
}

static char *window_at(gr_region *r, int window)
{
    return (char *)r + (size_t)window * WINDOW;
}

/* Addresses without memory, aligned: twice as many are asked for, and what lies around is given back. */
static gr_region *reserve(void)
{
    char *all = mmap(NULL, 2 * REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    char *begin = (char *)(((uintptr_t)all + REGION - 1) & ~(uintptr_t)(REGION - 1));
    if (begin > all)
        munmap(all, (size_t)(begin - all));
    if (begin < all + REGION)
        munmap(begin + REGION, (size_t)(all + REGION - begin));
    return (gr_region *)begin;
}

static bool open_window(gr_region *r, int window)
{
    return mprotect(window_at(r, window), WINDOW, PROT_READ | PROT_WRITE) == 0;
}

/* Its memory goes back to the system; every byte reads as zero from now on. */
static void close_window(gr_region *r, int window)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    mmap(window_at(r, window), WINDOW, PROT_READ, flags, -1, 0);
}

static bool add_region(gr_context *ctx, gr_handles *h)
{
    gr_region *r = reserve();
    if (r && !open_window(r, 0)) {
        munmap(r, REGION);
        r = NULL;
    }
    if (!r)
        return gr__fail(ctx, GR_NO_MEMORY,
                        "out of addresses: %zu bytes of them for the headers of tensors were refused", REGION);
    r->ctx = ctx;
    r->older = h->newest;
    *h = (gr_handles){.newest = r};
    return true;
}

/* The window that headers are taken from. */
static int current(const gr_handles *h)
{
    return h->next == 0 ? 0 : 1 + (int)((h->next - 1) / PER_WINDOW);
}

/* Opens the window behind the current one, which goes if it is empty already. */
static bool next_window(gr_context *ctx, gr_handles *h)
{
    const int before = current(h);
    if (before > 0 && h->newest->alive[before] == 0)
        close_window(h->newest, before);
    if ((!h->newest || h->next == SLOTS) && !add_region(ctx, h))
        return false;
    return open_window(h->newest, current(h) + 1) ||
           gr__fail(ctx, GR_NO_MEMORY, "out of host memory: %zu bytes for the headers of tensors", WINDOW);
}

gr_tensor *gr__handle_new(gr_context *ctx, gr_handles *h)
{
    if (!gr_ok(ctx) || ((!h->newest || h->next % PER_WINDOW == 0) && !next_window(ctx, h)))
        return NULL;
    const int64_t slot = h->next++ % PER_WINDOW;
    h->newest->alive[current(h)]++;
    return (gr_tensor *)window_at(h->newest, current(h)) + slot;
}

void gr__handle_free(gr_handles *h, gr_tensor *t)
{
    gr_region *r = region_of(t);
    const int window = (int)(((uintptr_t)t - (uintptr_t)r) / WINDOW);
    memset(t, 0, sizeof *t);
    if (--r->alive[window] == 0 && !(r == h->newest && window == current(h)))
        close_window(r, window);
}

void gr__handles_close(gr_handles *h)
{
    for (gr_region *r = h->newest, *older; r; r = older) {
        older = r->older;
        munmap(r, REGION);
    }
    *h = (gr_handles){0};
}

gr_context *gr__handle_context(const gr_tensor *t)
{
    return t->ctx ? t->ctx : region_of(t)->ctx;
}

bool gr__alive(const gr_tensor *t, const char *function)
{
    if (!t)
        return false;
    return t->ctx || gr__fail(gr__handle_context(t), GR_USAGE,
                              "%s: a tensor that is gone: what operations return lives until gr_step_end, a loader's "
                              "batches until gr_loader_close; read it before, or copy it into one of gr_tensor_new",
                              function);
}
