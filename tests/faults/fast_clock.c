/*
 * fast_clock.c - a shim for LD_PRELOAD: the clock that nobody sets runs $GRADUS_CLOCK times as fast, so that what
 * measures for seconds has done so soon.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000000000 /* in nanoseconds */ };

static int64_t speed = 1;

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("GRADUS_CLOCK");
    speed = number ? atol(number) : 1;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (syscall(SYS_clock_gettime, clock, t) != 0)
        return -1;
    if (clock == CLOCK_MONOTONIC) {
        const int64_t now = speed * (SECOND * (int64_t)t->tv_sec + t->tv_nsec);
        *t = (struct timespec){.tv_sec = now / SECOND, .tv_nsec = now % SECOND};
    }
    return 0;
}
