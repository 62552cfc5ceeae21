/*
 * check.h - the check build: every load and store of a kernel is compared with a record of who touched the same bytes
 * before.
 *
 * Time is kept by warp. A warp's clock advances when it synchronises; what it has seen of the other warps' clocks comes
 * with barriers. An access happened before another one if the later warp's knowledge of the earlier one's clock
 * includes it; lanes of one warp are ordered by __syncwarp only.
 */
#ifndef GRADUS_SIMT_CHECK_H
#define GRADUS_SIMT_CHECK_H

#include "kernels/simt/machine.h"

enum { GR__SIMT_CLOCK_BITS = 21, GR__SIMT_CLOCK_MAX = (1 << GR__SIMT_CLOCK_BITS) - 1, GR__SIMT_SITES = 512 };

/*
 * Who keeps a clock: the warps; what lands tiles; the products of each warp. The last two have numbers of threads of
 * their own, behind the block's.
 */
enum {
    GR__SIMT_TMA = GR__SIMT_WARPS,
    GR__SIMT_PRODUCTS_OF = GR__SIMT_WARPS + 1, /* and the warp's number */
    GR__SIMT_AGENTS = 2 * GR__SIMT_WARPS + 1,
    GR__SIMT_TMA_THREAD = GR__SIMT_THREADS,
    GR__SIMT_PRODUCT_THREAD = GR__SIMT_THREADS + 1,
};

/* The epoch of a copy to shared memory that has not landed. */
#define GR__SIMT_UNDER_WAY 0xFFFFFFFFu

/* What somebody knows who waited for a barrier in memory: of the clocks, and how far each thread that arrived was. */
typedef struct {
    uint32_t clock[GR__SIMT_AGENTS], thread[GR__SIMT_THREADS];
} gr__simt_knowledge;

/* One access as a record: who, when, from where. epoch 0: none. */
typedef struct {
    uint32_t epoch;     /* thread << GR__SIMT_CLOCK_BITS | its warp's clock */
    uint32_t site : 26; /* see gr__simt_site_of_pc */
    uint32_t bytes : 4; /* which of a word's bytes, in global memory */
    uint32_t atomic : 1;
    uint32_t compares : 1; /* a compare-and-swap */
} gr__simt_record;

/* One access being checked. */
typedef struct {
    gr__simt_thread *by;
    const char *p;
    size_t bytes;
    bool write, atomic;
    uint32_t site;
    bool compares;
} gr__simt_access;

struct gr__simt_shadow {
    uint32_t clock[GR__SIMT_WARPS][GR__SIMT_AGENTS];    /* [warp][what it knows of whom] */
    uint32_t met[GR__SIMT_WARPS];                       /* its own clock when its lanes last met */
    struct gr__simt_learnt *learnt;                     /* async.c; NULL: nothing by barriers in memory */
    struct gr__simt_fences *fences;                     /* fences.c; NULL: nobody has fenced */
    uint64_t period, began;                             /* times that all of a block met; when this block began */
    uint32_t block;                                     /* number of this block in its grid */
    struct gr__simt_cells *cells;                       /* shared_cells.c */
    struct gr__simt_requests *requests[GR__SIMT_WARPS]; /* requests.c */
    char unwritten[GR__SIMT_FAULT];                     /* report of a read of what nobody had written by then */
    struct {
        const char *file;
        int line;
    } site[GR__SIMT_SITES]; /* places from which the emulator made accesses */
};

static inline uint32_t gr__simt_epoch(const gr__simt_machine *m, const gr__simt_thread *t)
{
    return (uint32_t)t->number << GR__SIMT_CLOCK_BITS | m->shadow->clock[t->warp][t->warp];
}

static inline int gr__simt_epoch_thread(uint32_t epoch)
{
    return (int)(epoch >> GR__SIMT_CLOCK_BITS);
}

/* async.c: whether the warp knows, by a barrier in memory, of the thread's accesses up to then. */
bool gr__simt_has_learnt(const gr__simt_machine *m, int warp, int thread, uint32_t then);
void gr__simt_forget_learnt(gr__simt_machine *m); /* a new block */

/* fences.c: whether t knows, by fences, of that block's access. A new launch, a new block, the end. */
bool gr__simt_fences_tell(gr__simt_machine *m, uint32_t block, gr__simt_record access, const gr__simt_thread *t);
void gr__simt_fences_launch(gr__simt_machine *m);
void gr__simt_fences_block(gr__simt_machine *m);
void gr__simt_fences_close(gr__simt_machine *m);

/* Whether t, as it stands now, comes after the access. */
static inline bool gr__simt_happened_before(const gr__simt_machine *m, gr__simt_record r, const gr__simt_thread *t)
{
    const int thread = gr__simt_epoch_thread(r.epoch), warp = thread / GR__SIMT_LANES;
    const uint32_t then = r.epoch & GR__SIMT_CLOCK_MAX;
    if (thread >= GR__SIMT_THREADS)
        return then <= m->shadow->clock[t->warp][GR__SIMT_TMA + thread - GR__SIMT_TMA_THREAD];
    if (warp == t->warp ? thread == t->number || then < m->shadow->met[warp] : then <= m->shadow->clock[t->warp][warp])
        return true;
    return m->shadow->learnt && gr__simt_has_learnt(m, t->warp, thread, then);
}

/* shared_cells.c, global_cells.c: check an access, report it or record it. */
void gr__simt_check_shared(gr__simt_machine *m, const gr__simt_access *a);
void gr__simt_check_buffer(gr__simt_machine *m, gr__simt_buffer *b, const gr__simt_access *a);
void gr__simt_check(gr__simt_machine *m, const gr__simt_access *a);

/* global_cells.c: an access of the host, while it has not waited for all that was launched. */
void gr__simt_check_host(gr__simt_machine *m, const gr__simt_access *a);

/*
 * shared_cells.c, for what goes past the threads: an access checked as a.by's and remembered as of epoch; it must not
 * meet what a thread wrote and no fence let through. Bytes written, unchecked. Such a fence by the running thread.
 */
void gr__simt_check_async(gr__simt_machine *m, const gr__simt_access *a, uint32_t epoch);
void gr__simt_mark_shared(gr__simt_machine *m, const void *p, size_t bytes, uint32_t epoch, uint32_t site);
void gr__simt_let_through(gr__simt_machine *m);

/*
 * source.c: places in the source as small numbers, and their text "FILE:LINE". BY_LINE: the rest is a position in the
 * table of lines; otherwise a distance from the begin of the program or library that this is linked into, as the linker
 * names it.
 */
enum { GR__SIMT_BY_LINE = 1 << 25 };
extern const char gr__simt_image_begin[] __asm__("__ehdr_start") GR__SIMT_HIDDEN;
static inline uint32_t gr__simt_site_of_pc(const void *pc)
{
    return (uint32_t)((uintptr_t)pc - (uintptr_t)gr__simt_image_begin) & (GR__SIMT_BY_LINE - 1);
}
uint32_t gr__simt_site_of_line(gr__simt_machine *m, const char *file, int line);
const char *gr__simt_site_text(gr__simt_machine *m, uint32_t site, char *text, size_t room);
bool gr__simt_in_image(const void *p); /* the program's or library's own data */

/* "KIND: WHAT on ADDRESS; this access SITE" and, with other, "; other access thread N, SITE". */
void gr__simt_report_access(gr__simt_machine *m, const gr__simt_access *a, const char *kind, const char *what,
                            const gr__simt_record *other);
void gr__simt_report_bounds(gr__simt_machine *m, const gr__simt_access *a);

/*
 * A read of what nobody wrote is reported when the block meets next, or has ended: somebody may still write it, and
 * then it is a race.
 */
void gr__simt_read_unwritten(gr__simt_machine *m, const gr__simt_access *a);

#endif
