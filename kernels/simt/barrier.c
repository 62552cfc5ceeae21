/*
 * barrier.c - __syncthreads and named barriers.
 *
 * All threads of a block must come to the same __syncthreads, known by its file and line (a compiler may make several
 * of one). Named barriers connect different places on purpose and are known by their number alone.
 */
#include <string.h>

#include "kernels/simt/machine.h"

static bool same_line(const char *file_a, int line_a, const char *file_b, int line_b)
{
    return line_a == line_b && (file_a == file_b || !strcmp(file_a, file_b));
}

static void check_arrival(gr__simt_machine *m, int id, int need, const char *file, int line)
{
    const gr__simt_barrier_state *b = &m->barrier[id];
    if (id && (need % GR__SIMT_LANES || need <= 0 || need > m->threads))
        gr__simt_report(m, "barrier: named barrier %d at %s:%d counts %d threads, not whole warps of the block", id,
                        gr__simt_short(file), line, need);
    if (b->arrived && b->need != need)
        gr__simt_report(m, "barrier: named barrier %d at %s:%d counts %d threads, thread %d counts %d", id,
                        gr__simt_short(file), line, need, b->first, b->need);
    if (b->arrived && !id && !same_line(file, line, b->file, b->line))
        gr__simt_report(m, "barrier divergence: here at %s:%d, while thread %d waits at %s:%d", gr__simt_short(file),
                        line, b->first, gr__simt_short(b->file), b->line);
    if (!id && m->exited)
        gr__simt_report(m, "barrier divergence: %d threads have exited and will not come to %s:%d", m->exited,
                        gr__simt_short(file), line);
}

/* Whether t waits at the barrier. */
static bool waits(const gr__simt_thread *t, int id)
{
    return t->state == GR__SIMT_AT_BARRIER && t->barrier == id;
}

/* Everybody is there: what they did before is seen by all, and the others can run. */
static void release(gr__simt_machine *m, int id)
{
    unsigned warps = 1u << m->current->warp;
    for (int i = 0; i < m->threads; i++)
        if (waits(&m->thread[i], id))
            warps |= 1u << m->thread[i].warp;
    gr__simt_shadow_meets(m);
    gr__simt_order_warps(m, warps);
    gr__simt_count_barrier(m);
    gr__simt_watch_barrier(m, id, warps, m->barrier[id].file, m->barrier[id].line);
    m->barrier[id].arrived = 0;
    for (int i = 0; i < m->threads; i++) {
        gr__simt_thread *t = &m->thread[m->order == GR__SIMT_REVERSE ? m->threads - 1 - i : i];
        if (waits(t, id))
            gr__simt_wake(m, t);
    }
}

void gr__simt_barrier(int id, int threads, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    if (id < 0 || id >= GR__SIMT_BARRIERS)
        gr__simt_report(m, "barrier: %d at %s:%d is not a number from 1 to 15", id, gr__simt_short(file), line);
    gr__simt_barrier_state *b = &m->barrier[id];
    const int need = id ? threads : m->threads;
    check_arrival(m, id, need, file, line);
    if (!b->arrived)
        *b = (gr__simt_barrier_state){.need = need, .first = m->current->number, .file = file, .line = line};
    m->current->barrier = id;
    if (++b->arrived < need) {
        gr__simt_suspend(m, GR__SIMT_AT_BARRIER, file, line);
    } else {
        release(m, id);
        gr__simt_let_others_go_first(m, file, line);
    }
}

/* Everybody's vote stands until the second barrier, which keeps the first to go on from voting anew. */
int gr__simt_barrier_count(bool v, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    int count = 0;
    m->current->vote = v;
    gr__simt_barrier(0, 0, file, line);
    for (int i = 0; i < m->threads; i++)
        count += m->thread[i].vote;
    gr__simt_barrier(0, 0, file, line);
    return count;
}

void gr__simt_barriers_at_exit(gr__simt_machine *m, const gr__simt_thread *t)
{
    const gr__simt_barrier_state *b = &m->barrier[0];
    (void)t;
    if (b->arrived)
        gr__simt_report(m, "barrier divergence: exits while %d threads wait at %s:%d", b->arrived,
                        gr__simt_short(b->file), b->line);
}
