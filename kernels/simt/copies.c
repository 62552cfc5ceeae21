/*
 * copies.c - cp.async: copies from global to shared memory that land as late as the rules allow, at the wait. Until
 * then their destination holds NaN, so a kernel that does not wait has a wrong result.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/machine.h"

static void check_copy(gr__simt_machine *m, const gr__simt_copy *c)
{
    const char *file = gr__simt_short(c->file);
    if (!gr__simt_in_shared(m, c->to))
        gr__simt_report(m, "address: cp.async at %s:%d writes to memory that is not shared", file, c->line);
    if ((uintptr_t)c->to % (unsigned)c->size || (uintptr_t)c->from % (unsigned)c->size)
        gr__simt_report(m, "misaligned: cp.async at %s:%d needs addresses that are multiples of %d", file, c->line,
                        c->size);
    if (c->bytes < 0 || c->bytes > c->size || (c->size == 4 && c->bytes % 4))
        gr__simt_report(m, "address: cp.async at %s:%d copies %d of %d bytes", file, c->line, c->bytes, c->size);
}

bool gr__simt_is_shared(const void *p)
{
    return gr__simt_in_shared(gr__simt_now, p);
}

void gr__simt_copy_async(void *shared, const void *global, int size, int bytes, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_thread *t = m->current;
    const gr__simt_copy c = {shared, global, size, bytes, t->groups, file, line};
    check_copy(m, &c);
    if (t->copy_count == t->copy_room) {
        const int room = 2 * t->copy_room + 8;
        gr__simt_copy *more = realloc(t->copies, (size_t)room * sizeof *more);
        if (!more) {
            gr__simt_report(m, "out of memory: copies under way");
            return;
        }
        t->copies = more, t->copy_room = room;
    }
    gr__simt_shadow_copy_begins(m, &c);
    memset(shared, 0xFF, (size_t)size);
    t->copies[t->copy_count++] = c;
}

void gr__simt_copy_commit(void)
{
    gr__simt_now->current->groups++;
}

static void land(gr__simt_machine *m, const gr__simt_copy *c)
{
    gr__simt_touch(m, m->current, c->from, (size_t)c->bytes, false, c->file, c->line);
    if (c->bytes > 0) /* nothing may come from nowhere */
        memcpy(c->to, c->from, (size_t)c->bytes);
    memset(c->to + c->bytes, 0, (size_t)(c->size - c->bytes));
    gr__simt_shadow_copy_lands(m, c);
}

void gr__simt_copy_wait(int pending)
{
    gr__simt_machine *m = gr__simt_now;
    gr__simt_thread *t = m->current;
    int kept = 0;
    for (int i = 0; i < t->copy_count; i++) {
        if (t->copies[i].group < t->groups - pending)
            land(m, &t->copies[i]);
        else
            t->copies[kept++] = t->copies[i];
    }
    t->copy_count = kept;
}

void gr__simt_copies_at_exit(gr__simt_machine *m, const gr__simt_thread *t)
{
    if (t->copy_count)
        gr__simt_report(m, "missing wait: exits with %d cp.async under way, the first from %s:%d", t->copy_count,
                        gr__simt_short(t->copies[0].file), t->copies[0].line);
}
