/*
 * fail_alloc.c - a shim for LD_PRELOAD: the allocation number $GRADUS_FAIL_ALLOC, counted from 1 over all threads,
 * fails as if memory were out, and with GRADUS_FAIL_ALLOC_ON=1 every one behind it. At its end the program's count goes
 * into the file $GRADUS_COUNT_ALLOCS. Other programs than gradus, which it may start, are left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_long count;
static long first;
static bool all_behind, ready;

/* Without a getenv that an allocation would need. */
__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("GRADUS_FAIL_ALLOC"), *on = getenv("GRADUS_FAIL_ALLOC_ON");
    first = number ? atol(number) : 0;
    all_behind = on && *on == '1';
    ready = strcmp(program_invocation_short_name, "gradus") == 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("GRADUS_COUNT_ALLOCS");
    char text[32];
    const int fd = path && ready ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (fd < 0)
        return;
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (write(fd, text, (size_t)n) != n)
        _exit(9);
    close(fd);
}

static bool fails(void)
{
    if (!ready)
        return false;
    const long number = atomic_fetch_add(&count, 1) + 1;
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
