/*
 * group.c - see group.h. All of it is made of exchanges with ranks whose number differs in one bit:
 *
 *   rank   0   1   2   3   4   5   6   7
 *   bit 0  |---|   |---|   |---|   |---|
 *   bit 1  |-------|       |-------|            and 1 with 3, 5 with 7
 *   bit 2  |---------------|                    and 1 with 5, ...
 */
#include "core/group/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/group/power.h"

struct gr_group {
    int rank, ranks;
    gr_carrier carrier;
    void *user;
    char error[512];
    void *room; /* for what a sum receives, and for tensors that the host cannot reach */
    size_t room_bytes;
};

gr_group *gr_group_open(int rank, int ranks, const gr_carrier *carrier, void *user)
{
    if (!gr__is_power_of_two(ranks) || ranks > GR_MAX_RANKS || rank < 0 || rank >= ranks)
        return NULL;
    gr_group *g = calloc(1, sizeof *g);
    if (g)
        *g = (gr_group){.rank = rank, .ranks = ranks, .carrier = *carrier, .user = user};
    return g;
}

void gr_group_close(gr_group *g)
{
    if (!g)
        return;
    g->carrier.close(g->user);
    free(g->room);
    free(g);
}

int gr_group_rank(const gr_group *g)
{
    return g ? g->rank : 0;
}

int gr_group_size(const gr_group *g)
{
    return g ? g->ranks : 1;
}

bool gr_group_ok(const gr_group *g)
{
    return !g || !*g->error;
}

const char *gr_group_error(const gr_group *g)
{
    return g ? g->error : "";
}

void gr_group_fail(gr_group *g, const char *why)
{
    if (!g || *g->error)
        return;
    snprintf(g->error, sizeof g->error, "rank %d has ended: %s", g->rank, *why ? why : "it does not say why");
    g->carrier.fail(g->user, g->error);
}

/* False: the group has ended. */
static bool exchange(gr_group *g, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes)
{
    if (*g->error)
        return false;
    if (g->carrier.exchange(g->user, peer, send, send_bytes, receive, receive_bytes, g->error, sizeof g->error))
        return true;
    if (!*g->error)
        snprintf(g->error, sizeof g->error, "rank %d cannot be reached", peer);
    g->carrier.fail(g->user, g->error);
    return false;
}

/* Bit by bit from the lowest: who has it already gives it to who has not. */
bool gr_group_broadcast(gr_group *g, void *data, size_t bytes)
{
    bool good = gr_group_ok(g);
    for (int bit = 1; good && bit < gr_group_size(g); bit <<= 1) {
        if (g->rank < bit)
            good = exchange(g, g->rank ^ bit, data, bytes, NULL, 0);
        else if (g->rank < 2 * bit)
            good = exchange(g, g->rank ^ bit, NULL, 0, data, bytes);
    }
    return good;
}

/* What a rank knows doubles with every bit. */
bool gr_group_gather(gr_group *g, const void *own, size_t bytes, void *all)
{
    char *list = all;
    const size_t rank = (size_t)gr_group_rank(g);
    bool good = gr_group_ok(g);
    memcpy(list + rank * bytes, own, bytes);
    for (size_t bit = 1; good && bit < (size_t)gr_group_size(g); bit <<= 1) {
        const size_t mine = rank & ~(bit - 1), theirs = mine ^ bit;
        good = exchange(g, (int)(rank ^ bit), list + mine * bytes, bit * bytes, list + theirs * bytes, bit * bytes);
    }
    return good;
}

bool gr_group_any(gr_group *g, bool own)
{
    bool all[GR_MAX_RANKS], any = false;
    if (!gr_group_gather(g, &own, sizeof own, all))
        return own;
    for (int i = 0; i < gr_group_size(g); i++)
        any |= all[i];
    return any;
}

bool gr_group_barrier(gr_group *g)
{
    gr_group_any(g, false);
    return gr_group_ok(g);
}

/* --- sums --------------------------------------------------------------------------------------------------------- */

/* A sum under way, over elements that lie on the host. */
typedef struct {
    gr_group *g;
    gr_context *ctx;
    char *data, *incoming;
    size_t size;    /* of an element */
    bool on_device; /* data are the device's too, which adds them as it adds shards */
} sum;

/* As the device adds: kernels of the CPU flush numbers that are too small. */
static bool add(const sum *s, int64_t at, int64_t count)
{
    char *to = s->data + (size_t)at * s->size;
    if (s->on_device)
        return s->ctx->device->add_real(s->ctx->device, to, s->incoming, count);
    for (int64_t i = 0; i < count; i++) {
        if (s->size == sizeof(double))
            ((double *)to)[i] += ((double *)s->incoming)[i];
        else
            ((float *)to)[i] += ((float *)s->incoming)[i];
    }
    return true;
}

/*
 * Elements from lo to hi hold the sum over the ranks that differ below bit. Two neighbours halve them: each gets the
 * other's share of its half and adds it; then the halves are summed on over the higher bits, and exchanged back.
 */
static bool sum_from(const sum *s, int bit, int64_t lo, int64_t hi)
{
    gr_group *g = s->g;
    if (bit >= g->ranks)
        return true;
    const int peer = g->rank ^ bit;
    const bool upper = g->rank & bit;
    const int64_t mid = lo + (hi - lo) / 2, mine = upper ? mid : lo, end = upper ? hi : mid, theirs = upper ? lo : mid;
    const size_t mine_bytes = (size_t)(end - mine) * s->size, their_bytes = (size_t)(hi - lo) * s->size - mine_bytes;
    char *own = s->data + (size_t)mine * s->size, *other = s->data + (size_t)theirs * s->size;
    return exchange(g, peer, other, their_bytes, s->incoming, mine_bytes) && add(s, mine, end - mine) &&
           sum_from(s, bit << 1, mine, end) && exchange(g, peer, own, mine_bytes, other, their_bytes);
}

static bool make_room(gr_group *g, gr_context *ctx, size_t bytes)
{
    if (g->room_bytes >= bytes)
        return true;
    free(g->room);
    g->room_bytes = 0;
    g->room = gr__calloc(ctx, 1, bytes);
    g->room_bytes = g->room ? bytes : 0;
    return g->room;
}

bool gr_group_sum(gr_group *g, gr_tensor *t)
{
    gr_context *ctx = gr__alive(t, "gr_group_sum") ? t->ctx : NULL;
    if (!gr_ok(ctx) || gr_group_size(g) == 1 || ctx->planning)
        return gr_ok(ctx);
    const bool on_device = ctx->device->on_host;
    const size_t bytes = gr__bytes(t), half = (bytes + 1) / 2 + sizeof(double);
    if (!make_room(g, ctx, half + (on_device ? 0 : bytes)))
        return false;
    const sum s = {.g = g,
                   .ctx = ctx,
                   .data = on_device ? t->data : (char *)g->room + half,
                   .incoming = g->room,
                   .size = gr_type_size(t->type),
                   .on_device = on_device};
    if (!on_device && !gr_download(t, s.data))
        return false;
    if (!sum_from(&s, 1, 0, t->count))
        return gr__fail(ctx, GR_DEVICE_FAULT, "%s", *g->error ? g->error : "a sum over ranks failed");
    return on_device || gr_upload(t, s.data);
}
