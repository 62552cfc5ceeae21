/*
 * fail_alloc.c - a shim for LD_PRELOAD: the allocation number $GRADUS_FAIL_ALLOC, counted from 1 over all threads and
 * processes, fails as if memory were out, and with GRADUS_FAIL_ALLOC_ON=1 every one behind it. The count lies in the
 * file $GRADUS_COUNT, which cells and other children share; without it nothing is counted. Other programs than gradus,
 * which it may start, are left alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_long *count;
static long first;
static bool all_behind;

/* By calls that allocate nothing. */
__attribute__((constructor)) static void begin(void)
{
    const char *file = getenv("GRADUS_COUNT"), *number = getenv("GRADUS_FAIL_ALLOC");
    const char *on = getenv("GRADUS_FAIL_ALLOC_ON");
    if (!file || strcmp(program_invocation_short_name, "gradus") != 0)
        return;
    first = number ? atol(number) : 0;
    all_behind = on && *on == '1';
    const int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, sizeof *count) != 0)
        _exit(9);
    void *shared = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        _exit(9);
    close(fd);
    count = shared;
}

static bool fails(void)
{
    if (!count)
        return false;
    const long number = atomic_fetch_add(count, 1) + 1;
    const bool failing = first > 0 && (number == first || (all_behind && number > first));
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
