/*
 * mpi_process.h - this process beside those that mpirun has started with it: MPI's start and end, and where the others
 * live. Each has as many ranks, threads of it, which stand side by side:
 *
 *   process  0       1       2       3
 *   rank     0   1   2   3   4   5   6   7
 */
#ifndef GRADUS_TOOL_MPI_PROCESS_H
#define GRADUS_TOOL_MPI_PROCESS_H

#include <mpi.h>

#include "gradus.h"

enum { MPI_MARK_BYTES = 16, MPI_MOST_EACH = 64 /* so that tags, up to 32767, tell the ranks of a process apart */ };

/* What every message of a rank of gradus train begins with that does not say by its tag what it is. */
extern const char mpi_mark[MPI_MARK_BYTES];

/* How a process introduces itself: where it lives. */
typedef struct {
    char mark[MPI_MARK_BYTES], host[MPI_MAX_PROCESSOR_NAME];
    int id, ranks; /* its number in that system; how many it has */
} mpi_address;

typedef struct {
    int number, processes, each; /* from 0; all; ranks of each */
    bool in_turns;               /* several threads may speak to MPI, one at a time */
    bool far;                    /* some process lives on another machine than this one */
    double patience;             /* seconds */
    mpi_address *addresses;      /* [processes] */
} mpi_process;

/* Tags of messages; those of ranks are made of one of these and of places in their processes. */
enum { MPI_EXCHANGE = 1, MPI_FRAME, MPI_FAREWELL, MPI_ASK, MPI_ANSWER, MPI_HELLO, MPI_KINDS };

/* Threads speak to MPI in turns: whoever does holds this. */
void mpi_lock(void);
void mpi_unlock(void);

/*
 * Starts MPI and hears from all processes where they live, once. patience 0: 10 seconds; the start has three of them.
 * GR_OK, or what the program is to end with: why[size] tells. Where MPI itself waits for processes that do not start,
 * this one ends with a message.
 */
gr_code mpi_process_start(mpi_process *p, int each, double patience, char *why, size_t size);

/* Whether a process of this machine is gone; false for those of others. */
bool mpi_process_is_gone(const mpi_process *p, int process);

#endif
