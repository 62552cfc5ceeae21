/* memory.c - the device buffers that kernels may touch, and names for addresses in reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/machine.h"

enum {
    NEAR = 256,        /* bytes beside a buffer that are still named after it */
    NULLS = 64 * 1024, /* bytes behind NULL at which nothing lies */
};

/* The number of buffers that begin at p or before. */
static int buffers_up_to(const gr__simt_registry *r, const char *p)
{
    int low = 0, high = r->count;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (r->buffer[middle].low <= p)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool holds(const gr__simt_buffer *b, const char *p)
{
    return (size_t)(p - b->low) < b->bytes;
}

gr__simt_buffer *gr__simt_find_buffer(gr__simt_machine *m, const void *p)
{
    gr__simt_registry *r = &m->memory;
    if (r->last < r->count && holds(&r->buffer[r->last], p))
        return &r->buffer[r->last];
    const int i = buffers_up_to(r, p) - 1;
    if (i < 0 || !holds(&r->buffer[i], p))
        return NULL;
    r->last = i;
    return &r->buffer[i];
}

static void drop(gr__simt_registry *r, int i)
{
    gr__simt_shadow_forget(&r->buffer[i]);
    free(r->buffer[i].written);
    r->count--;
    memmove(&r->buffer[i], &r->buffer[i + 1], (size_t)(r->count - i) * sizeof *r->buffer);
}

void gr__simt_forget(const void *p)
{
    gr__simt_registry *r = gr__simt_now ? &gr__simt_now->memory : NULL;
    const int i = r ? buffers_up_to(r, p) - 1 : -1;
    if (i >= 0 && r->buffer[i].low == p)
        drop(r, i);
}

bool gr__simt_register(const void *p, size_t bytes)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m || !p || !bytes)
        return m;
    gr__simt_registry *r = &m->memory;
    if (r->count == r->room) {
        const int room = 2 * r->room + 16;
        gr__simt_buffer *more = realloc(r->buffer, (size_t)room * sizeof *more);
        if (!more)
            return false;
        r->buffer = more, r->room = room;
    }
    int i = buffers_up_to(r, p);
    while (i < r->count && r->buffer[i].low < (const char *)p + bytes) /* what lay there is gone */
        drop(r, i);
    while (i > 0 && holds(&r->buffer[i - 1], p))
        drop(r, --i);
    memmove(&r->buffer[i + 1], &r->buffer[i], (size_t)(r->count - i) * sizeof *r->buffer);
    r->buffer[i] = (gr__simt_buffer){.low = p, .bytes = bytes};
    r->count++;
    return true;
}

bool gr__simt_expect_writes(const void *p)
{
    gr__simt_buffer *b = gr__simt_now ? gr__simt_find_buffer(gr__simt_now, p) : NULL;
    if (b && !b->written && gr__simt_checks())
        b->written = calloc(b->bytes / 8 + 1, 1);
    return b && (b->written || !gr__simt_checks());
}

void gr__simt_written(const void *p, size_t bytes)
{
    const gr__simt_buffer *b = gr__simt_now ? gr__simt_find_buffer(gr__simt_now, p) : NULL;
    if (!b || !b->written)
        return;
    const size_t first = (size_t)((const char *)p - b->low), most = b->bytes - first;
    for (size_t i = first; i < first + (bytes < most ? bytes : most);) {
        const bool whole = i % 8 == 0 && first + bytes - i >= 8;
        b->written[i / 8] |= (unsigned char)(whole ? 0xFF : 1u << i % 8);
        i += whole ? 8 : 1;
    }
}

void gr__simt_call_it(const void *p, const char *name)
{
    gr__simt_buffer *b = gr__simt_now ? gr__simt_find_buffer(gr__simt_now, p) : NULL;
    if (b)
        b->name = name;
}

void gr__simt_set_strict(bool strict)
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        m->memory.strict = strict;
}

void gr__simt_expect_waits(void (*tell)(void))
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        m->memory.host_waits = tell;
}

void gr__simt_read(void *to, const void *from, size_t bytes, const char *file, int line)
{
    gr__simt_touch(gr__simt_now, gr__simt_now->current, from, bytes, false, file, line);
    memcpy(to, from, bytes);
}

void gr__simt_write(void *to, const void *from, size_t bytes, const char *file, int line)
{
    gr__simt_touch(gr__simt_now, gr__simt_now->current, to, bytes, true, file, line);
    memcpy(to, from, bytes);
}

static void name_shared(const gr__simt_machine *m, const char *p, char *text, size_t room)
{
    const gr__simt_arena *a = &m->shared;
    const int owner = a->owner[(p - a->memory) / 16];
    const gr__simt_placed *v = owner ? &a->placed[owner - 1] : NULL;
    for (int i = 0; !v && i < a->count; i++) /* in the gap behind a variable */
        if (p >= a->placed[i].at && p < a->placed[i].at + a->placed[i].bytes + NEAR)
            v = &a->placed[i];
    if (!v)
        snprintf(text, room, "shared memory outside every variable");
    else
        snprintf(text, room, "%s + %td bytes (of %zu)", v->what ? v->what->name : "dynamic", p - v->at, v->bytes);
}

void gr__simt_name_address(gr__simt_machine *m, const void *address, char *text, size_t room)
{
    const char *p = address;
    if (gr__simt_in_shared(m, p)) {
        const size_t used = (size_t)snprintf(text, room, "shared ");
        name_shared(m, p, text + used, room - used);
        return;
    }
    if ((size_t)(p - m->shared.memory) < GR__SIMT_ARENA + GR__SIMT_SHARED_MAX) {
        snprintf(text, room, "the dynamic shared memory, of which the launch gave 0 bytes");
        return;
    }
    const gr__simt_buffer *b = gr__simt_find_buffer(m, p);
    for (int i = 0; !b && i < m->memory.count; i++) { /* beside one */
        const gr__simt_buffer *near = &m->memory.buffer[i];
        b = p >= near->low - NEAR && p < near->low + near->bytes + NEAR ? near : NULL;
    }
    if (b) {
        snprintf(text, room, "%s + %td bytes (of %zu)", b->name ? b->name : "a device buffer", p - b->low, b->bytes);
        return;
    }
    if ((size_t)p < NULLS)
        snprintf(text, room, "NULL + %zu bytes, no device memory", (size_t)p);
    else
        snprintf(text, room, "%p, no device memory", address);
}

void gr__simt_name(const void *p, char *text, size_t room)
{
    if (gr__simt_now)
        gr__simt_name_address(gr__simt_now, p, text, room);
    else
        snprintf(text, room, "%p", p);
}
