/*
 * fences.c - what a block knows of the others of its launch: by a word to which both came with atomics, each with a
 * fence between that and the rest.
 *
 * A thread that fences keeps what it knew: what its warp knew when its lanes last met, and what it did itself. Its next
 * atomic on a word leaves that there. A thread that comes to the word with an atomic and fences behind it learns what
 * was left by all who came before; others of its block learn it from that thread, by a barrier. What a block has learnt
 * it does not hand on, and of several words between two fences a thread learns from the last: orders that go through
 * three blocks are not seen, and reported as races.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/check/check.h"

/* What thread knew in its block at its last fence; own: of itself. */
typedef struct {
    uint32_t block, thread, own, clock[GR__SIMT_WARPS];
} knowledge;

typedef struct {
    knowledge known;
    const void *word;
    uint32_t when; /* the thread's own time at the atomic */
} release;

/* Of each thread of the running block, whose serial it has. */
typedef struct {
    uint64_t fenced_in, came_in;
    knowledge known;
    const void *word; /* its last atomic's */
    size_t before;    /* releases by then */
} passer;

/* What was left in the word by the first releases came to the block at that record's place and time. */
typedef struct {
    const void *word;
    size_t first;
    gr__simt_record at;
} lesson;

struct gr__simt_fences {
    release *release; /* of this launch */
    lesson *lesson;   /* of this block */
    size_t releases, release_room, lessons, lesson_room;
    passer passer[GR__SIMT_THREADS];
};

/* Room for one more of count things of size bytes. */
static bool grows(gr__simt_machine *m, void **list, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    void *more = realloc(*list, 2 * (count + 8) * size);
    if (!more) {
        gr__simt_report(m, "out of memory: what is known by fences");
        return false;
    }
    *list = more, *room = 2 * (count + 8);
    return true;
}

static void learn(gr__simt_machine *m, struct gr__simt_fences *f, const passer *p)
{
    if (p->came_in != m->block || !grows(m, (void **)&f->lesson, f->lessons, &f->lesson_room, sizeof *f->lesson))
        return;
    const gr__simt_record at = {.epoch = gr__simt_epoch(m, m->current)};
    f->lesson[f->lessons++] = (lesson){p->word, p->before, at};
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
}

void gr__simt_shadow_came(gr__simt_machine *m, const void *word)
{
    struct gr__simt_fences *f = m->shadow->fences;
    const gr__simt_thread *t = m->current;
    if (!f || gr__simt_in_shared(m, word))
        return;
    passer *p = &f->passer[t->number];
    p->came_in = m->block, p->word = word, p->before = f->releases;
    if (p->fenced_in != m->block || !grows(m, (void **)&f->release, f->releases, &f->release_room, sizeof *f->release))
        return;
    f->release[f->releases++] = (release){p->known, word, m->shadow->clock[t->warp][t->warp]};
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

bool gr__simt_fences_tell(const gr__simt_machine *m, uint32_t block, gr__simt_record access, const gr__simt_thread *t)
{
    const struct gr__simt_fences *f = m->shadow->fences;
    for (size_t k = 0; f && k < f->lessons; k++) {
        const lesson *l = &f->lesson[k];
        for (size_t i = 0; i < l->first && gr__simt_happened_before(m, l->at, t); i++)
            if (f->release[i].word == l->word && tells(&f->release[i], block, access))
                return true;
    }
    return false;
}

void gr__simt_fences_launch(gr__simt_machine *m)
{
    if (m->shadow->fences)
        m->shadow->fences->releases = m->shadow->fences->lessons = 0;
}

void gr__simt_fences_block(gr__simt_machine *m)
{
    if (m->shadow->fences)
        m->shadow->fences->lessons = 0;
}

void gr__simt_fences_close(gr__simt_machine *m)
{
    if (!m->shadow || !m->shadow->fences)
        return;
    free(m->shadow->fences->release);
    free(m->shadow->fences->lesson);
    free(m->shadow->fences);
    m->shadow->fences = NULL;
}
