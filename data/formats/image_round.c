/* image_round.c - a round of files: decoded by several threads, then brought together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "data/decoding/file_check.h"
#include "data/formats/filter.h"
#include "data/formats/image_reader.h"

const char *gr__reader_file(const gr_reader *r, int class, int64_t position)
{
    return r->files.listing.classes[class].files[r->classes[class].order[position]];
}

/* Every class tries as many files as it lacks images. False: nothing is left to try. */
static bool plan_round(gr_reader *r)
{
    r->n_tasks = 0;
    for (int c = 0; c < r->files.listing.n; c++) {
        gr_class_state *state = &r->classes[c];
        for (int64_t row = state->good; row < state->rows && state->tried < r->files.listing.classes[c].n; row++)
            r->tasks[r->n_tasks++] = (gr_task){.class = c, .position = state->tried++, .row = state->first + row};
    }
    return r->n_tasks > 0;
}

/* From the bytes of a file to its row of the images, unless the filter leaves it out. */
static void decode_bytes(const gr_reader *r, gr_task *task, const uint8_t *bytes, size_t size)
{
    gr_picture picture;
    const char *fault = gr__filter_fault(r->options->filter, bytes, (int64_t)size);
    task->size = (int64_t)size;
    task->crc = (uint32_t)crc32_z(0, bytes, size);
    task->turned = gr__jpeg_orientation(bytes, size) != 1;
    if (fault) {
        task->filtered = true;
        task->result = GR__UNDECODABLE;
        snprintf(task->reason, sizeof task->reason, "%s", fault);
        return;
    }
    if (r->images->pixels) {
        const int64_t to[2] = {r->images->height, r->images->width};
        task->result = gr__decode_resized(bytes, size, to, gr__image_at(r->images, task->row), task->reason);
    } else if ((task->result = gr__decode_bytes(bytes, size, &picture, task->reason)) == GR__DECODED) {
        gr__picture_free(&picture); /* it can be decoded: that is all that was to be seen */
    }
}

static void decode_task(gr_reader *r, gr_task *task)
{
    uint8_t *buffer;
    const uint8_t *bytes;
    size_t size;
    const int64_t which = r->classes[task->class].order[task->position];
    task->result = gr__files_read(&r->files, task->class, which, &buffer, &bytes, &size, task->reason);
    if (task->result == GR__DECODED)
        decode_bytes(r, task, bytes, size);
    free(buffer);
}

/*
 * What one thread does of a round. Pictures differ in size, one class from another too: no share is fixed beforehand.
 */
static void decode_some(void *arg, int64_t thread)
{
    (void)thread;
    gr_reader *r = arg;
    for (int64_t i = r->next_task++; i < r->n_tasks; i = r->next_task++)
        decode_task(r, &r->tasks[i]);
}

void gr__reader_move(gr_images *images, int64_t to, int64_t from, int64_t n)
{
    if (to != from && images->pixels)
        memmove(gr__image_at(images, to), gr__image_at(images, from), (size_t)(n * gr__image_bytes(images)));
}

/* Closes the gaps of a round and notes what was left out. */
static bool gather_round(gr_reader *r)
{
    for (int64_t i = 0; i < r->n_tasks; i++) {
        gr_task *task = &r->tasks[i];
        gr_class_state *state = &r->classes[task->class];
        gr_tried *file = &state->files[task->position];
        file->size = task->size;
        file->crc = task->crc;
        file->turned = task->turned;
        if (task->result == GR__DECODED) {
            gr__reader_move(r->images, state->first + state->good++, task->row, 1);
            continue;
        }
        if (task->result == GR__UNREADABLE)
            return gr__fail(r->ctx, GR_IO_ERROR, "%s/%s/%s cannot be read: %s", r->files.root,
                            r->files.listing.classes[task->class].name, gr__reader_file(r, task->class, task->position),
                            task->reason);
        file->filtered = task->filtered;
        r->filtered += task->filtered;
        if (task->result == GR__UNDECODABLE)
            file->fault = strdup(task->reason);
        if (!file->fault)
            return gr__fail(r->ctx, GR_NO_MEMORY, "out of host memory while decoding %s/%s/%s", r->files.root,
                            r->files.listing.classes[task->class].name,
                            gr__reader_file(r, task->class, task->position));
        r->images->skipped++;
    }
    return true;
}

bool gr__reader_round(gr_reader *r)
{
    if (!plan_round(r))
        return false;
    r->next_task = 0;
    gr_parallel_for(&r->workers.exec, gr__pool_threads(r->workers.exec.pool), decode_some, r);
    return gather_round(r);
}
