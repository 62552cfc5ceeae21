/*
 * block.c - the threads of one block and how they take turns.
 *
 * A thread runs until it waits or leaves. A thread that leaves hands its stack to the next new one without a switch, so
 * a kernel in which nobody waits is a plain loop over its threads.
 */
#include <string.h>

#include "kernels/simt/machine.h"

__thread uint3 threadIdx, blockIdx, blockDim, gridDim;

/* Puts a thread at the end of the ring of those that can run. */
static void push(gr__simt_machine *m, const gr__simt_thread *t)
{
    m->ring.thread[(m->ring.head + m->ring.count++) % GR__SIMT_THREADS] = (uint16_t)t->number;
}

/* Takes the thread whose turn it is; NULL: none can run. In random order any of them. */
static gr__simt_thread *pull(gr__simt_machine *m)
{
    gr__simt_ring *r = &m->ring;
    gr__simt_land_at_random(m);
    while (!r->count && !gr__simt_answer_lookers(m))
        if (m->exited == m->threads || !gr__simt_land_tile(m))
            return NULL;
    const unsigned first = r->head % GR__SIMT_THREADS;
    if (m->order == GR__SIMT_RANDOM) {
        const unsigned chosen = (r->head + (unsigned)(gr__simt_random(m) % r->count)) % GR__SIMT_THREADS;
        const uint16_t number = r->thread[chosen];
        r->thread[chosen] = r->thread[first];
        r->thread[first] = number;
    }
    r->head++, r->count--;
    return &m->thread[r->thread[first]];
}

void gr__simt_wake(gr__simt_machine *m, gr__simt_thread *t)
{
    t->state = GR__SIMT_READY;
    push(m, t);
}

static void give_turn(gr__simt_machine *m, gr__simt_thread *t)
{
    m->current = t;
    t->state = GR__SIMT_RUNNING;
    threadIdx = t->index;
}

static void thread_main(void);

/* A fiber for a new thread. */
static gr__simt_fiber *take_fiber(gr__simt_machine *m)
{
    if (m->idles)
        return m->idle[--m->idles];
    gr__simt_fiber *f = &m->fiber[m->fibers];
    gr__simt_fiber_start(f, &m->stacks, m->fibers++, thread_main);
    return f;
}

/* From the running fiber to thread t; NULL: back to the launching function. */
static void go(gr__simt_machine *m, gr__simt_fiber *from, gr__simt_thread *t)
{
    m->current = NULL;
    if (!t) {
        gr__simt_fiber_switch(from, &m->launcher);
        return;
    }
    if (!t->fiber)
        t->fiber = take_fiber(m);
    give_turn(m, t);
    gr__simt_fiber_switch(from, t->fiber);
}

void gr__simt_suspend(gr__simt_machine *m, gr__simt_state why, const char *file, int line)
{
    gr__simt_thread *me = m->current;
    me->state = why, me->file = file, me->line = line;
    if (why != GR__SIMT_READY)
        m->vain = 0;
    gr__simt_thread *next = pull(m);
    if (next == me)
        give_turn(m, me);
    else
        go(m, me->fiber, next);
}

/* The last to come does not also go first: where that hides a missing barrier, the other orders show it. */
void gr__simt_let_others_go_first(gr__simt_machine *m, const char *file, int line)
{
    if (m->order == GR__SIMT_FORWARD)
        return;
    push(m, m->current);
    gr__simt_suspend(m, GR__SIMT_READY, file, line);
}

bool gr__simt_in_kernel(void)
{
    return gr__simt_now && gr__simt_now->current;
}

uint64_t gr__simt_turn(uint64_t *launch)
{
    const gr__simt_machine *m = gr__simt_now;
    *launch = m ? m->launches : 0;
    return m && m->current ? m->block << 32 | m->ring.head : 0;
}

void gr__simt_yield(const char *file, int line)
{
    push(gr__simt_now, gr__simt_now->current);
    gr__simt_suspend(gr__simt_now, GR__SIMT_READY, file, line);
}

static void leave(gr__simt_machine *m, gr__simt_thread *t)
{
    gr__simt_copies_at_exit(m, t);
    gr__simt_wgmma_at_exit(m, t);
    gr__simt_barriers_at_exit(m, t);
    gr__simt_grid_at_exit(m);
    gr__simt_warp_at_exit(m, t);
    t->state = GR__SIMT_EXITED;
    m->warp[t->warp].exited |= 1u << t->lane;
    m->exited++;
    m->vain = 0;
}

/* The life of a fiber: one thread after another. */
static void thread_main(void)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_fiber_begun(&m->launcher);
    for (;;) {
        m->launch->run(m->launch->arguments);
        gr__simt_thread *me = m->current;
        leave(m, me);
        gr__simt_thread *next = pull(m);
        if (next && !next->fiber) {
            next->fiber = me->fiber;
            give_turn(m, next);
        } else {
            m->idle[m->idles++] = me->fiber;
            go(m, me->fiber, next);
        }
    }
}

static void set_up_warps(gr__simt_machine *m)
{
    for (int i = 0; i < m->warps; i++) {
        const int lanes = m->threads - i * GR__SIMT_LANES;
        m->warp[i].exist = lanes >= GR__SIMT_LANES ? 0xFFFFFFFF : (1u << lanes) - 1;
        m->warp[i].exited = 0;
        m->warp[i].gatherings = 0;
    }
}

/* Who is who in blocks of this shape; most blocks have that of the block before. */
static void number_threads(gr__simt_machine *m, uint3 shape)
{
    if (shape.x == m->shape.x && shape.y == m->shape.y && shape.z == m->shape.z)
        return;
    m->shape = shape;
    for (int i = 0; i < m->threads; i++) {
        gr__simt_thread *t = &m->thread[i];
        const unsigned u = (unsigned)i;
        t->index = (uint3){u % shape.x, u / shape.x % shape.y, u / shape.x / shape.y};
        t->number = i, t->warp = i / GR__SIMT_LANES, t->lane = i % GR__SIMT_LANES;
    }
}

static void set_up_threads(gr__simt_machine *m)
{
    number_threads(m, m->launch->block);
    for (int i = 0; i < m->threads; i++) {
        gr__simt_thread *t = &m->thread[i];
        t->state = GR__SIMT_NEW, t->fiber = NULL, t->file = NULL;
        t->copy_count = t->groups = t->tries = t->looks = 0;
        t->looked_at = t->looked_by = NULL;
    }
    m->ring.head = m->ring.count = 0;
    for (int i = 0; i < m->threads; i++)
        push(m, &m->thread[m->order == GR__SIMT_REVERSE ? m->threads - 1 - i : i]);
}

/* Every thread waits and none can be woken. */
static void report_deadlock(gr__simt_machine *m)
{
    char list[GR__SIMT_FAULT / 2] = "";
    gr__simt_list_threads(m, list, sizeof list);
    gr__simt_list_mbarriers(m, list, sizeof list);
    gr__simt_list_grid(m, list, sizeof list);
    gr__simt_report(m, "deadlock: no thread can run:%s\n ", list);
}

void gr__simt_enter_block(gr__simt_machine *m, uint3 index)
{
    const uint3 block = m->launch->block;
    m->block++;
    m->threads = (int)(block.x * block.y * block.z);
    m->warps = (m->threads + GR__SIMT_LANES - 1) / GR__SIMT_LANES;
    m->exited = m->vain = 0;
    m->random = (m->seed + 1) * 0x9E3779B97F4A7C15 ^ (m->block * 0xD1B54A32D192ED03 + 1);
    blockIdx = index, blockDim = block, gridDim = m->launch->grid;
    memset(m->barrier, 0, sizeof m->barrier);
    set_up_warps(m);
}

static void end_block(gr__simt_machine *m)
{
    if (!m->fault[0] && m->exited < m->threads)
        report_deadlock(m);
    if (!m->fault[0])
        gr__simt_tiles_at_end(m);
    if (!m->fault[0])
        gr__simt_wgmma_at_end(m);
    if (!m->fault[0])
        gr__simt_shadow_meets(m);
    if (!m->fault[0])
        gr__simt_grid_at_end(m);
    gr__simt_watch_block_end(m);
    if (m->fault[0]) /* what the fibers were doing is dropped with them */
        m->fibers = m->idles = 0;
}

void gr__simt_go_on(gr__simt_machine *m)
{
    if (!m->fault[0])
        go(m, &m->launcher, pull(m));
    const bool waits = !m->fault[0] && gr__simt_waits_for_grid(m);
    if (waits)
        gr__simt_set_aside(m);
    if (!waits || m->fault[0])
        end_block(m);
    m->threads = 0;
}

void gr__simt_run_block(gr__simt_machine *m, uint3 index)
{
    gr__simt_enter_block(m, index);
    set_up_threads(m);
    gr__simt_shared_reset(m);
    gr__simt_shadow_block(m);
    gr__simt_watch_block(m);
    gr__simt_go_on(m);
}
