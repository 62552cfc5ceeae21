/*
 * fences.c - what a block knows of the others of its launch: by a word to which both came with atomics, each with a
 * fence between that and the rest.
 *
 * A thread that fences keeps what it knew: what its warp knew when its lanes last met, and what it did itself. Its next
 * atomic on a word leaves that there. A thread that comes to the word with an atomic and fences behind it learns what
 * was left by all who came before; others of its block learn it from that thread, by a barrier, and hand it on with
 * what they leave behind their next fence. Of several words between two fences a thread learns from the last.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/check.h"

/* What thread knew in its block at its last fence; own: of itself. */
typedef struct {
    uint32_t block, thread, own, clock[GR__SIMT_WARPS];
} knowledge;

/* What was left in a word by those of the first releases that are of it. */
typedef struct {
    const void *word;
    size_t first;
} leavings;

/* What a list has from begin to end. */
typedef struct {
    size_t begin, end;
} range;

typedef struct {
    knowledge known;
    range handed; /* what the thread had learnt of other blocks */
    const void *word;
    uint32_t when;    /* the thread's own time at the atomic */
    uint64_t seen_in; /* the last question that looked at it */
} release;

/* Of each thread of the running block, whose serial it has. */
typedef struct {
    uint64_t fenced_in, came_in;
    knowledge known;
    range handed;
    const void *word; /* its last atomic's */
    size_t before;    /* releases by then */
} passer;

/* What was left came to the block at that record's place and time. */
typedef struct {
    leavings what;
    gr__simt_record at;
} lesson;

/* Of a list that grows: things in it, and room. */
typedef struct {
    size_t count, room;
} extent;

struct gr__simt_fences {
    release *release; /* of this launch, and what they hand on */
    leavings *handed;
    lesson *lesson; /* of this block */
    leavings *open; /* where a question looks */
    extent releases, handeds, lessons, opens;
    uint64_t questions;
    passer passer[GR__SIMT_THREADS];
};

/* Room for one more of things of size bytes. */
static bool grows(gr__simt_machine *m, void **list, extent *of, size_t size)
{
    if (of->count < of->room)
        return true;
    void *more = realloc(*list, 2 * (of->count + 8) * size);
    if (!more) {
        gr__simt_report(m, "out of memory: what is known by fences");
        return false;
    }
    *list = more, of->room = 2 * (of->count + 8);
    return true;
}

/* One more at the end of a list. False: no memory, which has been reported. */
static bool add(gr__simt_machine *m, leavings **list, extent *of, leavings more)
{
    if (!grows(m, (void **)list, of, sizeof more))
        return false;
    (*list)[of->count++] = more;
    return true;
}

static void learn(gr__simt_machine *m, struct gr__simt_fences *f, const passer *p)
{
    if (p->came_in != m->block || !grows(m, (void **)&f->lesson, &f->lessons, sizeof *f->lesson))
        return;
    const gr__simt_record at = {.epoch = gr__simt_epoch(m, m->current)};
    f->lesson[f->lessons.count++] = (lesson){{p->word, p->before}, at};
}

/* Adds to what a thread hands on from begin on; of a word once. */
static void hand_on(gr__simt_machine *m, struct gr__simt_fences *f, size_t begin, leavings more)
{
    for (size_t i = begin; i < f->handeds.count; i++)
        if (f->handed[i].word == more.word) {
            f->handed[i].first = f->handed[i].first > more.first ? f->handed[i].first : more.first;
            return;
        }
    add(m, &f->handed, &f->handeds, more);
}

/* What the running thread has learnt, by others of its block, too. */
static range learnt_by_now(gr__simt_machine *m, struct gr__simt_fences *f)
{
    const size_t begin = f->handeds.count;
    for (size_t i = 0; i < f->lessons.count; i++)
        if (gr__simt_happened_before(m, f->lesson[i].at, m->current))
            hand_on(m, f, begin, f->lesson[i].what);
    return (range){begin, f->handeds.count};
}

void gr__simt_shadow_fence(gr__simt_machine *m)
{
    struct gr__simt_fences *f = m->shadow->fences;
    const gr__simt_thread *t = m->current;
    uint32_t *own = &m->shadow->clock[t->warp][t->warp];
    if (!f)
        f = m->shadow->fences = calloc(1, sizeof *f);
    if (!f) {
        gr__simt_report(m, "out of memory: what is known by fences");
        return;
    }
    passer *p = &f->passer[t->number];
    p->fenced_in = m->block;
    p->known = (knowledge){.block = m->shadow->block, .thread = (uint32_t)t->number, .own = *own};
    memcpy(p->known.clock, m->shadow->clock[t->warp], sizeof p->known.clock);
    p->known.clock[t->warp] = m->shadow->met[t->warp] - 1;
    *own += *own < GR__SIMT_CLOCK_MAX; /* what comes behind the fence is not what came before */
    learn(m, f, p);
    p->handed = learnt_by_now(m, f);
}

void gr__simt_shadow_came(gr__simt_machine *m, const void *word)
{
    struct gr__simt_fences *f = m->shadow->fences;
    const gr__simt_thread *t = m->current;
    if (!f || gr__simt_in_shared(m, word))
        return;
    passer *p = &f->passer[t->number];
    p->came_in = m->block, p->word = word, p->before = f->releases.count;
    if (p->fenced_in != m->block || !grows(m, (void **)&f->release, &f->releases, sizeof *f->release))
        return;
    f->release[f->releases.count++] = (release){p->known, p->handed, word, m->shadow->clock[t->warp][t->warp], 0};
}

/* Whether the block that left it had made the access by then. */
static bool tells(const release *r, uint32_t block, gr__simt_record access)
{
    const uint32_t thread = (uint32_t)gr__simt_epoch_thread(access.epoch), then = access.epoch & GR__SIMT_CLOCK_MAX;
    if (block != r->known.block || thread >= GR__SIMT_THREADS)
        return false;
    if (thread == r->known.thread)
        return then <= (access.atomic ? r->when : r->known.own);
    return then <= r->known.clock[thread / GR__SIMT_LANES];
}

/* Whether one of the leavings tells of the access; what is handed on with them is opened. */
static bool are_told(gr__simt_machine *m, struct gr__simt_fences *f, leavings here, uint32_t block,
                     gr__simt_record access)
{
    for (size_t i = 0; i < here.first; i++) {
        release *r = &f->release[i];
        if (r->word != here.word || r->seen_in == f->questions)
            continue;
        if (tells(r, block, access))
            return true;
        r->seen_in = f->questions;
        for (size_t k = r->handed.begin; k < r->handed.end; k++)
            if (!add(m, &f->open, &f->opens, f->handed[k]))
                return false;
    }
    return false;
}

/* From what nearer blocks have left to what farther ones have. */
bool gr__simt_fences_tell(gr__simt_machine *m, uint32_t block, gr__simt_record access, const gr__simt_thread *t)
{
    struct gr__simt_fences *f = m->shadow->fences;
    if (!f)
        return false;
    f->questions++;
    f->opens.count = 0;
    for (size_t k = 0; k < f->lessons.count; k++)
        if (gr__simt_happened_before(m, f->lesson[k].at, t) && !add(m, &f->open, &f->opens, f->lesson[k].what))
            return false;
    for (size_t next = 0; next < f->opens.count; next++)
        if (are_told(m, f, f->open[next], block, access))
            return true;
    return false;
}

void gr__simt_fences_launch(gr__simt_machine *m)
{
    struct gr__simt_fences *f = m->shadow->fences;
    if (f)
        f->releases.count = f->handeds.count = f->lessons.count = 0;
}

void gr__simt_fences_block(gr__simt_machine *m)
{
    if (m->shadow->fences)
        m->shadow->fences->lessons.count = 0;
}

void gr__simt_fences_close(gr__simt_machine *m)
{
    struct gr__simt_fences *f = m->shadow ? m->shadow->fences : NULL;
    if (!f)
        return;
    free(f->release);
    free(f->handed);
    free(f->lesson);
    free(f->open);
    free(f);
    m->shadow->fences = NULL;
}
