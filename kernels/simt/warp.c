/*
 * warp.c - operations of a warp's lanes together: __syncwarp, shuffles, votes, matrices.
 *
 * Lanes gather by their mask. The last one to come does the work for all; the others find their results when they run
 * again.
 */
#include <limits.h>
#include <string.h>

#include "kernels/simt/machine.h"

enum { LANES = GR__SIMT_LANES };
#define ALL 0xFFFFFFFFu

/* The lane that lane i reads. */
static int shuffle_source(const gr__simt_shuffle *s, int i)
{
    const int first = i & ~(s->width - 1), end = first + s->width;
    int from = i;
    switch (s->mode) {
    case GR__SIMT_INDEX:
        return first + (s->operand & (s->width - 1));
    case GR__SIMT_UP:
        from = i - s->operand;
        return from < first ? i : from;
    case GR__SIMT_DOWN:
        from = i + s->operand;
        return from >= end ? i : from;
    case GR__SIMT_XOR: /* groups before its own may be read, those behind not */
        from = i ^ s->operand;
        return from >= end ? i : from;
    }
    return from;
}

static void do_shuffle(gr__simt_machine *m, gr__simt_thread *lane, const gr__simt_gathering *g)
{
    for (int i = 0; i < LANES; i++) {
        if (!(g->mask >> i & 1))
            continue;
        gr__simt_shuffle *mine = lane[i].argument;
        if (mine->width <= 0 || mine->width > LANES || (mine->width & (mine->width - 1)))
            gr__simt_report(m, "shuffle: width %d at %s:%d is no power of two up to 32", mine->width,
                            gr__simt_short(g->file), g->line);
        const int from = shuffle_source(mine, i);
        if (from < 0 || from >= LANES || !(g->mask >> from & 1))
            gr__simt_report(m, "shuffle: lane %d reads lane %d, which takes no part (mask 0x%08X) at %s:%d", i, from,
                            g->mask, gr__simt_short(g->file), g->line);
        mine->out = ((const gr__simt_shuffle *)lane[from].argument)->in;
    }
}

static void do_vote(gr__simt_thread *lane, const gr__simt_gathering *g)
{
    unsigned ballot = 0, sum = 0;
    int smallest = INT_MAX, largest = INT_MIN;
    for (int i = 0; i < LANES; i++) {
        if (!(g->mask >> i & 1))
            continue;
        const int v = ((const gr__simt_vote *)lane[i].argument)->in;
        ballot |= (unsigned)(v != 0) << i;
        sum += (unsigned)v;
        smallest = v < smallest ? v : smallest;
        largest = v > largest ? v : largest;
    }
    const unsigned result = g->op == GR__SIMT_BALLOT ? ballot
                            : g->op == GR__SIMT_ALL  ? ballot == g->mask
                            : g->op == GR__SIMT_ANY  ? ballot != 0
                            : g->op == GR__SIMT_SUM  ? sum
                            : g->op == GR__SIMT_MIN  ? (unsigned)smallest
                                                     : (unsigned)largest;
    for (int i = 0; i < LANES; i++)
        if (g->mask >> i & 1)
            ((gr__simt_vote *)lane[i].argument)->out = result;
}

static void do_together(gr__simt_thread *lane, const gr__simt_gathering *g)
{
    gr__simt_together *all[LANES] = {NULL};
    for (int i = 0; i < LANES; i++)
        if (g->mask >> i & 1)
            all[i] = lane[i].argument;
    all[__builtin_ctz(g->mask)]->work(all, g->mask);
}

static void execute(gr__simt_machine *m, gr__simt_thread *lane, const gr__simt_gathering *g)
{
    if (g->op >= GR__SIMT_LDMATRIX && g->mask != ALL)
        gr__simt_report(m, "warp divergence: %s:%d needs all 32 lanes and has 0x%08X", gr__simt_short(g->file), g->line,
                        g->mask);
    switch (g->op) {
    case GR__SIMT_SYNC:
        gr__simt_order_warps(m, 1u << m->current->warp);
        break;
    case GR__SIMT_SHUFFLE:
        do_shuffle(m, lane, g);
        break;
    case GR__SIMT_TOGETHER:
        do_together(lane, g);
        break;
    case GR__SIMT_LDMATRIX:
    case GR__SIMT_LDMATRIX_TRANS:
        gr__simt_do_ldmatrix(m, lane, g->op == GR__SIMT_LDMATRIX_TRANS, g->file, g->line);
        break;
    case GR__SIMT_MMA_F16:
    case GR__SIMT_MMA_BF16:
    case GR__SIMT_MMA_TF32:
        gr__simt_do_mma(lane, g->op);
        break;
    case GR__SIMT_WGMMA_FENCE:
    case GR__SIMT_WGMMA:
    case GR__SIMT_WGMMA_COMMIT:
    case GR__SIMT_WGMMA_WAIT:
        gr__simt_do_wgmma(m, lane, g);
        break;
    default:
        do_vote(lane, g);
    }
}

/* Reports a mask that this lane, or lanes that have gone, contradict. Lanes beyond the block are left out of masks. */
static unsigned check_mask(gr__simt_machine *m, const gr__simt_warp_state *w, unsigned mask, const char *file, int line)
{
    mask &= w->exist;
    if (!(mask >> m->current->lane & 1))
        gr__simt_report(m, "warp divergence: lane %d at %s:%d is not in the mask 0x%08X", m->current->lane,
                        gr__simt_short(file), line, mask);
    if (mask & w->exited)
        gr__simt_report(m, "warp divergence: the mask 0x%08X at %s:%d names lanes 0x%08X, which have exited", mask,
                        gr__simt_short(file), line, mask & w->exited);
    return mask;
}

static bool same_place(const gr__simt_gathering *a, const gr__simt_gathering *b)
{
    return a->mask == b->mask && a->op == b->op && a->line == b->line &&
           (a->file == b->file || !strcmp(a->file, b->file));
}

/*
 * The gathering of these lanes, a new one if need be. Lanes may wait for others that are still busy elsewhere, among
 * themselves; but two that wait for each other at different places wait for ever.
 */
static gr__simt_gathering *join(gr__simt_machine *m, gr__simt_warp_state *w, const gr__simt_gathering *wanted)
{
    for (int i = 0; i < w->gatherings; i++)
        if (same_place(&w->gathering[i], wanted))
            return &w->gathering[i];
    for (int i = 0; i < w->gatherings; i++) {
        const gr__simt_gathering *g = &w->gathering[i];
        if (g->mask >> m->current->lane & 1 && g->arrived & wanted->mask)
            gr__simt_report(
                m, "warp divergence: lane %d is at %s:%d (mask 0x%08X), while lanes 0x%08X wait at %s:%d (mask 0x%08X)",
                m->current->lane, gr__simt_short(wanted->file), wanted->line, wanted->mask, g->arrived,
                gr__simt_short(g->file), g->line, g->mask);
    }
    w->gathering[w->gatherings] = *wanted;
    return &w->gathering[w->gatherings++];
}

void gr__simt_warp(unsigned mask, gr__simt_collective op, void *argument, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_thread *me = m->current, *lane = me - me->lane;
    gr__simt_warp_state *w = &m->warp[me->warp];
    mask = check_mask(m, w, mask, file, line);
    gr__simt_gathering *g = join(m, w, &(gr__simt_gathering){.mask = mask, .op = op, .file = file, .line = line});
    me->argument = argument;
    g->arrived |= 1u << me->lane;
    if (g->arrived != mask) {
        gr__simt_suspend(m, GR__SIMT_IN_COLLECTIVE, file, line);
        return;
    }
    const gr__simt_gathering complete = *g;
    *g = w->gathering[--w->gatherings];
    execute(m, lane, &complete);
    gr__simt_watch_collective(m, &complete);
    for (int i = 0; i < LANES; i++) {
        const int l = m->order == GR__SIMT_REVERSE ? LANES - 1 - i : i;
        if ((mask >> l & 1) && &lane[l] != me)
            gr__simt_wake(m, &lane[l]);
    }
    gr__simt_let_others_go_first(m, file, line);
}

void gr__simt_warp_at_exit(gr__simt_machine *m, const gr__simt_thread *t)
{
    const gr__simt_warp_state *w = &m->warp[t->warp];
    for (int i = 0; i < w->gatherings; i++)
        if (w->gathering[i].mask >> t->lane & 1)
            gr__simt_report(m, "warp divergence: lane %d exits, while lanes 0x%08X wait for it at %s:%d", t->lane,
                            w->gathering[i].arrived, gr__simt_short(w->gathering[i].file), w->gathering[i].line);
}

/* --- who is here -------------------------------------------------------------------------------------------------- */

unsigned gr__simt_active_lanes(const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_suspend(m, GR__SIMT_LOOKING_ROUND, file, line);
    return m->current->lanes;
}

/* Whether two threads look round at one place. */
static bool look_together(const gr__simt_thread *a, const gr__simt_thread *b)
{
    return b->state == GR__SIMT_LOOKING_ROUND && a->warp == b->warp && a->line == b->line && !strcmp(a->file, b->file);
}

/* One group of each block at a time: those who look at other places may yet come to this one. */
bool gr__simt_answer_lookers(gr__simt_machine *m)
{
    int first = 0;
    while (first < m->threads && m->thread[first].state != GR__SIMT_LOOKING_ROUND)
        first++;
    if (first == m->threads)
        return false;
    unsigned lanes = 0;
    gr__simt_thread *all = &m->thread[first - m->thread[first].lane], like = m->thread[first];
    const int end = m->threads - (first - m->thread[first].lane);
    for (int i = 0; i < LANES && i < end; i++)
        lanes |= (unsigned)look_together(&like, &all[i]) << i;
    for (int i = 0; i < LANES; i++)
        if (lanes >> i & 1) {
            all[i].lanes = lanes;
            gr__simt_wake(m, &all[i]);
        }
    return true;
}
