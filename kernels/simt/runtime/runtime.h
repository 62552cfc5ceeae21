/*
 * runtime.h - what the files of CUDA's runtime share. This library alone prints: it belongs to programs of learners,
 * who shall be told on stderr what went wrong, and its last word is the program's exit code.
 */
#ifndef GRADUS_SIMT_RUNTIME_H
#define GRADUS_SIMT_RUNTIME_H

#include "kernels/simt/cuda/cuda_runtime_api.h"
#include "kernels/simt/queue.h"

#define GR__HIDDEN __attribute__((visibility("hidden")))

/* Exit codes of a program. */
enum {
    GR__EXIT_USAGE = 2, /* the environment asks for what there is not */
    GR__EXIT_FOUND = 7, /* something was found in it */
};

/* error.c: the error that cudaGetLastError tells; returns it. place: of the call, for one that nobody asks for. */
cudaError_t gr__cuda_fails(cudaError_t error, const char *file, int line) GR__HIDDEN;
void gr__cuda_asked(void) GR__HIDDEN;                                 /* somebody looks at the errors */
const char *gr__cuda_unread(const char **file, int *line) GR__HIDDEN; /* the error that nobody asked for, or NULL */

void gr__cuda_say_failed(void) GR__HIDDEN; /* its place, where file is NULL */

/* diagnosis.c: prints what the emulator found, once. Returns the error that stands from then on; cudaSuccess: none. */
cudaError_t gr__cuda_look(void) GR__HIDDEN;
/* A finding of the runtime's own. kind and text as a report of the emulator; the place is added. file NULL: it is the
 * innermost call of the program's. */
void gr__cuda_find(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4))) GR__HIDDEN;
void gr__cuda_tell_place(const char *place) GR__HIDDEN; /* "FILE:LINE", and what stands there */
void gr__cuda_start(void) GR__HIDDEN;                   /* on the first call of anything */

/* slow.c: from now on what runs for long is told of, once. The hint where one thread alone has done so, or NULL. */
void gr__cuda_watch_time(void) GR__HIDDEN;
const char *gr__cuda_hint_of_waiting(void) GR__HIDDEN;

/* One block of memory that the program asked for. */
typedef struct gr__cuda_block {
    struct gr__cuda_block *next;
    char *p;
    size_t bytes;
    enum cudaMemoryType type;
    const char *file;
    int line;
    const char *freed_file; /* NULL: in use */
    int freed_line;         /* 0: freed_file is a function's name */
    const char *freer;      /* what gives it back */
    char name[256];         /* in reports */
} gr__cuda_block;

enum { GR__NAME_ROOM = 1024 }; /* for a freed block's name */

/* memory.c: the block that p lies in, freed ones too, or NULL. */
gr__cuda_block *gr__cuda_find_block(const void *p) GR__HIDDEN;
const char *gr__cuda_freed(const gr__cuda_block *b, char *text,
                           size_t room) GR__HIDDEN; /* its name, and where it went */
void gr__cuda_report_leaks(void) GR__HIDDEN;
/* Whether [p, p + bytes) lies in one block, as far as it is in any. What is wrong is told: "CALL of 8 bytes SIDE". */
bool gr__cuda_fits(const char *call, const char *side, const void *p, size_t bytes, const char *file,
                   int line) GR__HIDDEN;

/* array.c: whether that is a cudaArray, freed ones too. */
bool gr__cuda_is_array(const void *p) GR__HIDDEN;

/* heap.c: whether kernels asked for memory, which nobody took note of where accesses are not checked. */
bool gr__cuda_heap_used(void) GR__HIDDEN;

/* stream.c: whether what was queued may be called done for the host. */
void gr__cuda_wait_all(void) GR__HIDDEN;

#endif
