/*
 * slow.c - a kernel that runs for long, told of once while it goes on: who waits for it cannot see whether it will end.
 * A thread that reads a word until another thread writes there lets nobody go first, and without --check nothing is
 * seen of its reads: the processor's clock alone shows it, each second.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

#include "kernels/simt/runtime/counters.h"

enum { ALONE = 5, LONG = 10 }; /* seconds of the processor's */

static struct {
    uint64_t turn, launch;
    int turn_seconds, launch_seconds;
    bool told;
} seen;

static bool is_alone(void)
{
    return seen.turn && seen.turn_seconds > 1;
}

const char *gr__cuda_hint_of_waiting(void)
{
    return is_alone() ? "a thread that reads a word until another one writes there waits for ever here, and may do so "
                        "on a GPU: __syncthreads() waits for a block's threads, a second launch for all blocks. Where "
                        "it computes it takes its time"
                      : NULL;
}

static void tell(const void *context)
{
    fflush(stdout);
    if (seen.turn_seconds >= ALONE)
        fprintf(stderr, "gradus: still running: one thread alone for %d s; Ctrl-C ends it\n", seen.turn_seconds);
    else
        fprintf(stderr, "gradus: still running: one launch for %d s; Ctrl-C ends it\n", seen.launch_seconds);
    gr__cuda_say_where(context);
    fprintf(stderr, "  %s\n", gr__simt_where());
    if (seen.turn_seconds >= ALONE)
        fprintf(stderr, "  hint: %s\n", gr__cuda_hint_of_waiting());
    else
        fprintf(stderr,
                "  hint: the grid has %u blocks of %u threads, one after the other: a smaller one is soon done\n",
                gridDim.x * gridDim.y * gridDim.z, blockDim.x * blockDim.y * blockDim.z);
    seen.told = true;
}

static void tick(int number, siginfo_t *info, void *context)
{
    uint64_t launch;
    const uint64_t turn = gr__simt_turn(&launch);
    (void)number, (void)info;
    seen.turn_seconds = turn && turn == seen.turn ? seen.turn_seconds + 1 : 0;
    seen.launch_seconds = turn && launch == seen.launch ? seen.launch_seconds + 1 : 0;
    seen.turn = turn, seen.launch = launch;
    if (!seen.told && (seen.turn_seconds >= ALONE || seen.launch_seconds >= LONG) && gr__cuda_in_program(context))
        tell(context);
}

/* In time of the process alone, so that no call of its that sleeps is cut short. */
void gr__cuda_watch_time(void)
{
    static const struct itimerval second = {{1, 0}, {1, 0}};
    struct sigaction before, action = {.sa_sigaction = tick, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    if (!sigaction(SIGVTALRM, NULL, &before) && before.sa_handler == SIG_DFL && !sigaction(SIGVTALRM, &action, NULL))
        setitimer(ITIMER_VIRTUAL, &second, NULL);
}
