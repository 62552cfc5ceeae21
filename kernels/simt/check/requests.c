/* requests.c - see requests.h. */
#include "kernels/simt/check/requests.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, OPEN = SLOTS / 2 };
#define MEETING 0x80000000u /* k of a meeting: this and its number */

/* A hash table, and the order of a warp: where a lane's path leaves those before it, it stands behind the fork. */
struct gr__simt_requests {
    gr__simt_request slot[SLOTS];
    int open;
    uint32_t meetings;
    int first, at[GR__SIMT_LANES]; /* the warp's first request, each lane's last: 1 + slot, 0: none */
};

static struct gr__simt_requests *requests_of(gr__simt_machine *m, int warp)
{
    struct gr__simt_requests **r = &m->shadow->requests[warp];
    if (!*r)
        *r = calloc(1, sizeof **r);
    return *r && (*r)->open <= OPEN ? *r : NULL;
}

/* The slot of (site, k), a new one with lanes 0 if need be. */
static gr__simt_request *find(struct gr__simt_requests *r, uint32_t site, uint32_t k)
{
    size_t i = (site * 0x9E3779B1u ^ k * 0xC2B2AE35u) >> 12;
    for (;; i++) {
        gr__simt_request *q = &r->slot[i % SLOTS];
        if (!q->lanes)
            *q = (gr__simt_request){.site = site, .k = k}, r->open++;
        if (q->site == site && q->k == k)
            return q;
    }
}

/* Puts q behind a request, or first of all. Returns its place. */
static int link_behind(struct gr__simt_requests *r, int before, gr__simt_request *q)
{
    int *link = before ? &r->slot[before - 1].next : &r->first;
    q->next = *link;
    return *link = 1 + (int)(q - r->slot);
}

bool gr__simt_requests_add(gr__simt_machine *m, const gr__simt_access *a, bool shared)
{
    struct gr__simt_requests *r = requests_of(m, a->by->warp);
    const int lane = a->by->lane;
    if (!r)
        return false;
    gr__simt_request *seen = find(r, a->site, GR__SIMT_SEEN);
    seen->lanes |= 1u << lane;
    gr__simt_request *q = find(r, a->site, seen->times[lane]++);
    r->at[lane] = q->lanes ? 1 + (int)(q - r->slot) : link_behind(r, r->at[lane], q);
    q->lanes |= 1u << lane;
    q->kind = a->atomic ? GR__SIMT_CHANGES : a->write ? GR__SIMT_WRITES : GR__SIMT_READS;
    q->shared = shared;
    q->bytes = (uint32_t)a->bytes;
    q->address[lane] = (uintptr_t)a->p;
    return true;
}

/* The last in the warp's order of the requests that these lanes were at. */
static int furthest(const struct gr__simt_requests *r, uint32_t lanes)
{
    int found = 0;
    for (int i = r->first; i; i = r->slot[i - 1].next)
        for (int lane = 0; lane < GR__SIMT_LANES; lane++)
            if ((lanes >> lane & 1) && r->at[lane] == i)
                found = i;
    return found;
}

bool gr__simt_requests_meet(gr__simt_machine *m, int warp, uint32_t lanes, gr__simt_collective op, uint32_t site)
{
    struct gr__simt_requests *r = requests_of(m, warp);
    if (!r)
        return false;
    gr__simt_request *q = find(r, site, MEETING | r->meetings++);
    const int place = link_behind(r, furthest(r, lanes), q);
    q->lanes = lanes;
    q->kind = GR__SIMT_MEETS;
    q->op = op;
    for (int lane = 0; lane < GR__SIMT_LANES; lane++)
        if (lanes >> lane & 1)
            r->at[lane] = place;
    return true;
}

static void flush(gr__simt_machine *m, int warp, struct gr__simt_requests *r)
{
    for (int i = r->first; i; i = r->slot[i - 1].next) {
        const gr__simt_request *q = &r->slot[i - 1];
        if (m->tally && q->kind != GR__SIMT_MEETS)
            gr__simt_count_request(m, q);
        if (m->watching)
            gr__simt_watch_request(m, warp, q);
    }
    for (int i = 0; i < SLOTS && r->open; i++)
        r->open -= r->slot[i].lanes != 0, r->slot[i].lanes = 0;
    r->first = 0;
    memset(r->at, 0, sizeof r->at);
}

void gr__simt_requests_flush(gr__simt_machine *m, unsigned warps)
{
    struct gr__simt_requests *const *all = m->shadow ? m->shadow->requests : NULL;
    int left = 0;
    for (int w = 0; all && w < GR__SIMT_WARPS; w++)
        left += (warps >> w & 1) && all[w] && all[w]->open;
    for (int w = 0; left && w < GR__SIMT_WARPS; w++) {
        if (!(warps >> w & 1) || !all[w] || !all[w]->open)
            continue;
        if (m->watching)
            gr__simt_watch_share(m, left);
        flush(m, w, all[w]);
        left--;
    }
}

void gr__simt_requests_close(gr__simt_machine *m)
{
    for (int w = 0; m->shadow && w < GR__SIMT_WARPS; w++) {
        free(m->shadow->requests[w]);
        m->shadow->requests[w] = NULL;
    }
}
