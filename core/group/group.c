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

#include "core/clock.h"
#include "core/context.h"
#include "core/group/link.h"
#include "core/group/part.h"
#include "core/group/power.h"

enum { ALIGNED = 4 /* elements */, MARGIN = (ALIGNED + 1) * sizeof(double) };

struct gr_group {
    int rank, ranks;
    gr_carrier carrier;
    void *user;
    char error[512];
    void *room; /* for what a sum receives, and for tensors that the host cannot reach */
    size_t room_bytes;
    gr_link *link; /* NULL: there is none */
    gr_context *linked;
    void *incoming; /* for what a sum receives, on that context's device */
    size_t incoming_bytes;
    int64_t sums;    /* by the link so far */
    int device_peer; /* for whose device this rank's is to wait; its own number: not known whose */
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
    gr__group_disconnect(g);
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

/* The group ends, for the reason that is already in its error. Always false. */
static bool broken(gr_group *g)
{
    g->carrier.fail(g->user, g->error);
    if (g->link)
        g->link->abort(g->link);
    return false;
}

void gr_group_fail(gr_group *g, const char *why)
{
    if (!g || *g->error)
        return;
    snprintf(g->error, sizeof g->error, "rank %d has ended: %s", g->rank, *why ? why : "it does not say why");
    broken(g);
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
    return broken(g);
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

/* A sum under way, over elements that lie on the host, or on a device with a link. */
typedef struct {
    gr_group *g;
    gr_context *ctx;
    char *data, *incoming;
    size_t size;    /* of an element */
    bool on_device; /* the device adds, as it adds shards; else this thread does */
    bool linked;    /* and the link carries them */
} sum;

/* By the device, as kernels of the CPU flush numbers that are too small. */
static bool add(const sum *s, int64_t at, int64_t count)
{
    char *to = s->data + (size_t)at * s->size;
    if (count == 0) /* a launch of nothing is an error */
        return true;
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

/* Whether all is well, this rank's device not waiting for others. False: why says who has ended. */
static bool look(gr_group *g, char *why, size_t size)
{
    return !g->carrier.look || g->carrier.look(g->user, -1, 0, why, size);
}

/*
 * Waits for what the device has been asked for on its own. It may take its time: who waits for this rank then names it.
 * False: the group has ended.
 */
static bool catch_up(gr_group *g)
{
    gr_device *d = g->linked->device;
    while (!d->idle(d))
        if (!look(g, g->error, sizeof g->error))
            return broken(g);
    return true;
}

/* Waits for the device, with an eye on the other ranks: one that is gone would have it wait for ever. */
static bool settle(gr_group *g)
{
    gr_device *d = g->linked->device;
    const double begin = gr__seconds();
    while (!d->idle(d))
        if (!gr__group_waits(g, begin, g->error, sizeof g->error) ||
            !g->link->check(g->link, g->error, sizeof g->error))
            return broken(g);
    return look(g, g->error, sizeof g->error) || broken(g);
}

/* By the link the host waits behind each exchange, so that it is known for whom. False: the group has ended. */
static bool swap(const sum *s, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes)
{
    gr_group *g = s->g;
    if (!s->linked)
        return exchange(g, peer, send, send_bytes, receive, receive_bytes);
    g->device_peer = peer;
    if (!g->link->exchange(g->link, peer, send, send_bytes, receive, receive_bytes, g->error, sizeof g->error))
        return broken(g);
    return settle(g);
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
    const int64_t half = (hi - lo) / 2, mid = lo + half - half % ALIGNED; /* as devices like to add */
    const int64_t mine = upper ? mid : lo, end = upper ? hi : mid, theirs = upper ? lo : mid;
    const size_t mine_bytes = (size_t)(end - mine) * s->size, their_bytes = (size_t)(hi - lo) * s->size - mine_bytes;
    char *own = s->data + (size_t)mine * s->size, *other = s->data + (size_t)theirs * s->size;
    return swap(s, peer, other, their_bytes, s->incoming, mine_bytes) && add(s, mine, end - mine) &&
           sum_from(s, bit << 1, mine, end) && swap(s, peer, own, mine_bytes, other, their_bytes);
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

/* All ranks are at the same sum, of as many bytes: else no device is asked, as it would wait for ever. */
static bool same_sum(gr_group *g, int64_t bytes)
{
    int64_t own[2] = {g->sums++, bytes}, all[2 * GR_MAX_RANKS];
    if (!gr_group_gather(g, own, sizeof own, all))
        return false;
    for (int i = 0; i < g->ranks; i++)
        if (all[2 * i] != own[0] || all[2 * i + 1] != own[1]) {
            snprintf(g->error, sizeof g->error,
                     "rank %d is at sum %lld over devices, of %lld bytes, and rank %d at %lld, of %lld", i,
                     (long long)all[2 * i], (long long)all[2 * i + 1], g->rank, (long long)own[0], (long long)own[1]);
            return broken(g);
        }
    return true;
}

/* By the link, in place. False: recorded. */
static bool linked_sum(gr_group *g, gr_tensor *t)
{
    gr_context *ctx = t->ctx;
    const size_t bytes = gr__bytes(t), room = bytes / 2 + MARGIN;
    if (g->incoming_bytes < room) {
        gr__persistent_free(ctx, g->incoming, g->incoming_bytes);
        g->incoming = NULL;
        g->incoming_bytes = 0;
        if (!gr__persistent_alloc(ctx, room, "what a sum over ranks receives", &g->incoming))
            return false;
        g->incoming_bytes = room;
    }
    const sum s = {.g = g,
                   .ctx = ctx,
                   .data = t->data,
                   .incoming = g->incoming,
                   .size = gr_type_size(t->type),
                   .on_device = true,
                   .linked = true};
    if (gr_group_ok(g) && catch_up(g) && same_sum(g, (int64_t)bytes) && sum_from(&s, 1, 0, t->count))
        return true;
    return gr__fail(ctx, GR_DEVICE_FAULT, "%s", *g->error ? g->error : "a sum over ranks failed");
}

bool gr_group_sum(gr_group *g, gr_tensor *t)
{
    gr_context *ctx = gr__alive(t, "gr_group_sum") ? t->ctx : NULL;
    if (!gr_ok(ctx) || gr_group_size(g) == 1 || ctx->planning)
        return gr_ok(ctx);
    if (g->link && g->linked == ctx)
        return linked_sum(g, t);
    const bool on_device = ctx->device->on_host;
    const size_t bytes = gr__bytes(t), half = (size_t)(t->count / 2) * gr_type_size(t->type) + MARGIN;
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

int64_t gr__group_bucket_bytes(const gr_group *g)
{
    return g ? g->carrier.bucket_bytes : 0;
}

bool gr__group_room(gr_group *g, gr_context *ctx, int64_t count)
{
    return make_room(g, ctx, (size_t)count * gr_type_size(gr_real(ctx)) / 2 + MARGIN);
}

bool gr__group_sum_part(gr_group *g, gr_tensor *t, int64_t lo, int64_t hi)
{
    const size_t size = gr_type_size(t->type);
    const sum s = {
        .g = g, .ctx = t->ctx, .data = (char *)t->data + (size_t)lo * size, .incoming = g->room, .size = size};
    return gr_group_ok(g) && sum_from(&s, 1, 0, hi - lo);
}

/* --- devices ------------------------------------------------------------------------------------------------------ */

bool gr__group_connect(gr_group *g, gr_context *ctx)
{
    if (gr_group_size(g) == 1 || !gr_ok(ctx) || !ctx->device->link || ctx->options.plan_only)
        return gr_ok(ctx);
    gr__group_disconnect(g);
    g->linked = ctx;
    g->device_peer = g->rank;
    char why[sizeof g->error] = "";
    if (gr_group_ok(g) && ctx->device->link(ctx->device, g, &g->link, why, sizeof why) && look(g, why, sizeof why))
        return true;
    if (!*g->error)
        memcpy(g->error, why, sizeof why);
    return broken(g) || gr__fail(ctx, GR_DEVICE_FAULT, "%s", g->error);
}

void gr__group_disconnect(gr_group *g)
{
    if (!g || !g->linked)
        return;
    if (g->link)
        g->link->close(g->link);
    gr__persistent_free(g->linked, g->incoming, g->incoming_bytes);
    g->link = NULL;
    g->linked = NULL;
    g->incoming = NULL;
    g->incoming_bytes = 0;
}

bool gr__group_waits(gr_group *g, double begin, char *why, size_t size)
{
    const double patience = g->carrier.patience > 0 ? g->carrier.patience : 10, waited = gr__seconds() - begin;
    if (g->carrier.look)
        return g->carrier.look(g->user, g->device_peer, waited, why, size);
    if (waited > patience)
        snprintf(why, size, "the devices of other ranks have not answered that of rank %d of %d for %.0f s", g->rank,
                 g->ranks, waited);
    return waited <= patience;
}
