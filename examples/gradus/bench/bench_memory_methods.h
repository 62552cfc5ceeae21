/*
 * bench_memory_methods.h - four ways of handing out the memory of an update. The first is the library's own and needs
 * nothing here; the others are allocators that a context is opened with, and the same update runs over them.
 */
#ifndef GRADUS_BENCH_MEMORY_METHODS_H
#define GRADUS_BENCH_MEMORY_METHODS_H

#include <gradus.h>

typedef enum {
    MEMORY_PLANNED,  /* one piece, laid out by a dry run */
    MEMORY_CACHING,  /* blocks that are kept and cut, as PyTorch's */
    MEMORY_SYSTEM,   /* malloc and free for each tensor */
    MEMORY_NO_REUSE, /* nothing is used twice within an update */
    MEMORY_METHODS
} memory_method;

extern const char *const memory_method_names[MEMORY_METHODS + 1];

/* A block of memory that a method has from the system, or a part of it; they form a list. */
typedef struct memory_block {
    struct memory_block *next; /* behind it in the same piece, or the first of the next piece */
    char *at;
    size_t size;
    size_t piece; /* bytes of the piece that it is the first block of; 0: it is not the first */
    bool taken, small;
} memory_block;

/* An allocator and what it has counted. */
typedef struct {
    gr_allocator allocator; /* for gr_options */
    int64_t asked;          /* tensors and scratch */
    int64_t system;         /* how often the system was asked in turn: mmap, or malloc */
    memory_block *blocks;
    memory_block *now; /* of MEMORY_NO_REUSE: the piece that is being used up */
    size_t used;       /* bytes of it */
} memory_lender;

/* Makes l, all zero, lend by a method other than MEMORY_PLANNED. To be closed behind the context. */
void memory_lender_open(memory_lender *l, memory_method method);
void memory_lender_close(memory_lender *l);

/*
 * A piece of size bytes from the system as one block at *link, as the library takes memory on a CPU: zero pages, large
 * ones where they pay. NULL: there is no more.
 */
memory_block *memory_piece(memory_lender *l, memory_block **link, size_t size);

/* MEMORY_CACHING */
void *memory_cache_take(void *lender, size_t bytes);
void memory_cache_give(void *lender, void *p, size_t bytes);

#endif
