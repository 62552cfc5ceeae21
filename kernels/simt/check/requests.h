/*
 * requests.h - accesses of lanes, joined to requests of their warp: what the hardware makes of one instruction. Joined
 * while somebody counts (count.c) or a block is written down (watch.c).
 *
 * Threads run one after another, so a request is put together afterwards: the k-th access from one place in the source
 * by each lane since the warp last synchronised. Where lanes diverge in a loop, that can join accesses which the
 * hardware makes one after another.
 */
#ifndef GRADUS_SIMT_REQUESTS_H
#define GRADUS_SIMT_REQUESTS_H

#include "kernels/simt/check/check.h"

typedef enum {
    GR__SIMT_READS,
    GR__SIMT_WRITES,
    GR__SIMT_CHANGES, /* atomics */
    GR__SIMT_MEETS,   /* no access: lanes come to a collective */
} gr__simt_request_kind;

/* A slot of a hash table by site and k. With k = SEEN it tells how often each lane came to the site. */
#define GR__SIMT_SEEN 0xFFFFFFFFu
typedef struct {
    uint32_t site, k, bytes;
    uint32_t lanes; /* those that came; 0: a free slot */
    int next;       /* the request behind it in the warp's order: 1 + slot, 0: none */
    gr__simt_request_kind kind;
    gr__simt_collective op; /* of MEETS */
    bool shared;
    union {
        uintptr_t address[GR__SIMT_LANES];
        uint32_t times[GR__SIMT_LANES];
    };
} gr__simt_request;

/* An access of a.by becomes part of a request. False: its lane is too far ahead of its warp, or memory is out. */
bool gr__simt_requests_add(gr__simt_machine *m, const gr__simt_access *a, bool shared);

/* Lanes of a warp meet at a collective, after all that they did. False: as above. */
bool gr__simt_requests_meet(gr__simt_machine *m, int warp, uint32_t lanes, gr__simt_collective op, uint32_t site);

/* The requests of these warps are complete: they are counted and written down, in the order of each warp. */
void gr__simt_requests_flush(gr__simt_machine *m, unsigned warps);
void gr__simt_requests_close(gr__simt_machine *m);

/*
 * cost.c: one request's entries of the counters: the kind of memory, lanes, sectors of 32 bytes, turns beyond the first
 * (bank_conflicts).
 */
gr__simt_counters gr__simt_request_cost(const gr__simt_request *r);

/* count.c: a request, or a barrier, of the kernel that is counted; an access that became part of none. */
void gr__simt_count_request(gr__simt_machine *m, const gr__simt_request *r);
void gr__simt_count_lost(gr__simt_machine *m);

/* count.c: a copy of a tile, sent by one lane from the place in the source: as a request of so many sectors. */
void gr__simt_count_tile(gr__simt_machine *m, uint32_t site, uint64_t sectors);

/* watch.c: a request of the block that is written down; how many of a warp's may be; one that was lost. */
void gr__simt_watch_request(gr__simt_machine *m, int warp, const gr__simt_request *r);
void gr__simt_watch_share(gr__simt_machine *m, int warps);
void gr__simt_watch_lost(gr__simt_machine *m);

#endif
