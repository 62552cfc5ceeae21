/*
 * input_file.h - an ordinary file, read from its beginning to its end. What could have a reader wait for ever (a pipe
 * that nobody writes to) is refused.
 */
#ifndef GRADUS_INPUT_FILE_H
#define GRADUS_INPUT_FILE_H

#include "core/core.h"

typedef struct {
    gr_context *ctx;
    const char *path; /* the caller's, who keeps it until the end */
    int fd;
    size_t size;
} gr_input_file;

/* False: recorded, nothing is open. */
bool gr__input_open(gr_context *ctx, const char *path, gr_input_file *in);

/* The next n bytes, which the file must have had when it was opened. False: recorded. */
bool gr__input_read(gr_input_file *in, void *to, size_t n);

/* The first n bytes, or as many as there are; the reading begins before them still. False: recorded. */
bool gr__input_peek(gr_input_file *in, void *to, size_t n);

void gr__input_close(gr_input_file *in);

#endif
