/* staging.c - see staging.h. Buffers and events are made when they are first wanted. */
#include "kernels/devices/staging.h"

#include <string.h>

static bool made(void **p, void *fresh)
{
    *p = fresh;
    return fresh != NULL;
}

static bool open_slot(gr_staging *s, gr_staging_slot *slot)
{
    const gr_stream_calls *c = s->calls;
    void *pinned = slot->pinned, *device = slot->device;
    const bool complete = (pinned || made(&pinned, c->pinned_alloc(GR__PIECE))) &&
                          (device || made(&device, c->device_alloc(GR__PIECE))) &&
                          (slot->arrived || made(&slot->arrived, c->event_open())) &&
                          (slot->taken || made(&slot->taken, c->event_open()));
    slot->pinned = pinned;
    slot->device = device;
    return complete;
}

static bool open_room(gr_staging *s, gr_staging_room *room)
{
    void *pinned = room->pinned;
    const bool complete = (pinned || made(&pinned, s->calls->pinned_alloc(GR__SMALL_ROOM))) &&
                          (room->left || made(&room->left, s->calls->event_open()));
    room->pinned = pinned;
    return complete;
}

/* A copy in a stream of these numbers, timed. */
static bool copy(gr_staging *s, void *dst, const void *src, size_t bytes, int number)
{
    void *stream = number == GR_STREAM_COPIES ? s->copies : s->compute;
    const int stretch = gr__stopwatch_begin(s->stopwatch, number, stream);
    const bool copied = s->calls->copy(dst, src, bytes, stream);
    gr__stopwatch_end(s->stopwatch, stretch, stream);
    return copied;
}

static bool upload_piece(gr_staging *s, void *dst, const void *src, size_t bytes)
{
    const gr_stream_calls *c = s->calls;
    gr_staging_slot *slot = &s->slot[s->next_slot];
    s->next_slot = (s->next_slot + 1) % GR__SLOTS;
    if (!open_slot(s, slot) || !c->host_wait(slot->arrived))
        return false;
    memcpy(slot->pinned, src, bytes);
    return c->stream_wait(s->copies, slot->taken) && copy(s, slot->device, slot->pinned, bytes, GR_STREAM_COPIES) &&
           c->event_record(slot->arrived, s->copies) && c->stream_wait(s->compute, slot->arrived) &&
           copy(s, dst, slot->device, bytes, GR_STREAM_COMPUTE) && c->event_record(slot->taken, s->compute);
}

/* A room is filled once, and filled again when all has left it. */
static bool upload_small(gr_staging *s, void *dst, const void *src, size_t bytes)
{
    const gr_stream_calls *c = s->calls;
    gr_staging_room *room = &s->room[s->now_room];
    if (!open_room(s, room))
        return false;
    if (room->used + bytes > GR__SMALL_ROOM) {
        if (!c->event_record(room->left, s->compute))
            return false;
        s->now_room = (s->now_room + 1) % GR__SLOTS;
        room = &s->room[s->now_room];
        if (!open_room(s, room) || !c->host_wait(room->left))
            return false;
        room->used = 0;
    }
    char *pinned = room->pinned + room->used;
    room->used += (bytes + 15) / 16 * 16;
    memcpy(pinned, src, bytes);
    return copy(s, dst, pinned, bytes, GR_STREAM_COMPUTE);
}

bool gr__staging_upload(gr_staging *s, void *dst, const void *src, size_t bytes)
{
    if (bytes <= GR__SMALL)
        return upload_small(s, dst, src, bytes);
    for (size_t at = 0; at < bytes; at += GR__PIECE) {
        const size_t piece = bytes - at < GR__PIECE ? bytes - at : GR__PIECE;
        if (!upload_piece(s, (char *)dst + at, (const char *)src + at, piece))
            return false;
    }
    return true;
}

void gr__staging_close(gr_staging *s)
{
    const gr_stream_calls *c = s->calls;
    for (int i = 0; i < GR__SLOTS; i++) {
        gr_staging_slot *slot = &s->slot[i];
        void *events[] = {slot->arrived, slot->taken, s->room[i].left}, *pinned[] = {slot->pinned, s->room[i].pinned};
        for (int j = 0; j < 3; j++)
            if (events[j])
                c->event_close(events[j]);
        for (int j = 0; j < 2; j++)
            if (pinned[j])
                c->pinned_free(pinned[j]);
        if (slot->device)
            c->device_free(slot->device);
    }
}
