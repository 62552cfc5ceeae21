/*
 * shared.c - the shared memory of a block. Each variable gets its exact size between gaps that nobody may touch and
 * starts as NaN in every block: nothing is inherited from the block before. A gap is a whole row of banks, so that
 * variables lie in the banks where they would lie side by side.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/simt/machine.h"
#include "kernels/simt/poison.h"

enum { GAP = 128, ALIGNMENT = 16, DYNAMIC_ALIGNMENT = 1024, TABLE = 2 * GR__SIMT_VARIABLES };

/* Finds a place for bytes and counts them. Anything over a limit is a fault. */
static char *place(gr__simt_machine *m, const gr__simt_variable *what, size_t bytes, size_t alignment)
{
    gr__simt_arena *a = &m->shared;
    const size_t start = (a->top + GAP + alignment - 1) / alignment * alignment;
    const size_t end = (start + bytes + 15) / 16 * 16;
    a->used += (bytes + 15) / 16 * 16;
    if (a->used > a->limit)
        gr__simt_report(m, "shared memory: %zu bytes with %s at %s:%d, the block may have %zu", a->used,
                        what ? what->name : "the dynamic ones", gr__simt_short(what ? what->file : m->launch->file),
                        what ? what->line : m->launch->line, a->limit);
    else if (end + GAP > GR__SIMT_ARENA || a->count == GR__SIMT_VARIABLES)
        gr__simt_report(m, "shared memory: more variables than the emulator has room for");
    if (m->fault[0]) /* for a caller in the launching function, which returns from reports */
        return NULL;
    char *p = a->memory + start;
    a->top = end;
    a->highest = end > a->highest ? end : a->highest;
    a->placed[a->count++] = (gr__simt_placed){what, p, bytes};
    memset(a->owner + start / 16, a->count, (end - start) / 16);
    gr__simt_unpoison(p, bytes);
    memset(p, 0xFF, bytes);
    return p;
}

void gr__simt_shared_reset(gr__simt_machine *m)
{
    gr__simt_arena *a = &m->shared;
    memset(a->owner, 0, a->highest / 16);
    gr__simt_poison(a->memory,
                    a->highest ? a->highest + GAP : GR__SIMT_ARENA); /* the rest is poisoned since the first block */
    a->top = a->used = 0;
    a->count = 0;
    a->dynamic = NULL;
    if (m->launch->dynamic_shared)
        a->dynamic = place(m, NULL, m->launch->dynamic_shared, DYNAMIC_ALIGNMENT);
}

void *gr__simt_shared(const gr__simt_variable *v)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_arena *a = &m->shared;
    size_t i = (uintptr_t)v / 16 % TABLE;
    while (a->found[i].block == m->block && a->found[i].what != v)
        i = (i + 1) % TABLE;
    if (a->found[i].block != m->block) {
        a->found[i].at = place(m, v, v->bytes, ALIGNMENT);
        a->found[i].what = v;
        a->found[i].block = m->block;
    }
    return a->found[i].at;
}

void *gr__simt_dynamic_shared(const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    if (!m->shared.dynamic)
        gr__simt_report(m, "shared memory: %s:%d uses dynamic shared memory, the launch gives 0 bytes",
                        gr__simt_short(file), line);
    return m->shared.dynamic;
}

void *gr__simt_dynamic_shared_if_any(const char *file, int line)
{
    (void)file, (void)line;
    gr__simt_machine *m = gr__simt_now;
    return m->shared.dynamic ? m->shared.dynamic : m->shared.memory + GR__SIMT_ARENA;
}
