/*
 * fail_alloc.c - a shim for LD_PRELOAD: the allocation number $GRADUS_FAIL_ALLOC, counted from 1 over all threads and
 * processes, fails as if memory were out, and with GRADUS_FAIL_ALLOC_ON=1 every one behind it. The count lies in the
 * file $GRADUS_COUNT, which cells and other children share; without it nothing is counted. Other programs than gradus,
 * which it may start, are left alone. In the file $GRADUS_STACKS each allocation leaves a number, which is the same for
 * two that were made by the same calls.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_STACKS = 1 << 20, DEEPEST = 48 };

static atomic_long *count;
static long first;
static bool all_behind;
static uint64_t *stacks; /* NULL: nobody asks for them */

/* A file of that size as memory that several processes share. */
static void *share(const char *file, size_t size)
{
    const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, (off_t)size) != 0)
        _exit(9);
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        _exit(9);
    close(fd);
    return shared;
}

/* By calls that allocate nothing. */
__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("GRADUS_COUNT"), *number = getenv("GRADUS_FAIL_ALLOC");
    const char *on = getenv("GRADUS_FAIL_ALLOC_ON"), *where = getenv("GRADUS_STACKS");
    void *frame;
    if (!file || strcmp(program_invocation_short_name, "gradus") != 0)
        return;
    first = number ? atol(number) : 0;
    all_behind = on && *on == '1';
    if (where) {
        backtrace(&frame, 1); /* its first call allocates */
        stacks = share(where, MOST_STACKS * sizeof *stacks);
    }
    count = share(file, sizeof *count);
}

/* FNV-1a over the places that a call will return to, each as the distance from its library's beginning. */
static uint64_t stack_hash(void)
{
    void *frames[DEEPEST];
    const int n = backtrace(frames, DEEPEST);
    uint64_t hash = 0xcbf29ce484222325;
    Dl_info library;
    for (int i = 0; i < n; i++) {
        const uintptr_t begin = dladdr(frames[i], &library) ? (uintptr_t)library.dli_fbase : 0;
        hash = (hash ^ ((uintptr_t)frames[i] - begin)) * 0x100000001b3;
    }
    return hash;
}

static bool fails(void)
{
    if (!count)
        return false;
    const long number = atomic_fetch_add(count, 1) + 1;
    const bool failing = first > 0 && (number == first || (all_behind && number > first));
    if (stacks && number <= MOST_STACKS)
        stacks[number - 1] = stack_hash();
    if (failing)
        errno = ENOMEM;
    return failing;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails() ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    if (fails())
        return ENOMEM;
    *p = __libc_memalign(alignment, size);
    return *p ? 0 : ENOMEM;
}
