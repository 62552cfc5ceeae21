/* mpi_carrier.h - ranks that mpirun has started: processes of one machine or of several, with threads each. */
#ifndef GRADUS_TOOL_MPI_CARRIER_H
#define GRADUS_TOOL_MPI_CARRIER_H

#include <stddef.h>

#include "gradus.h"

/*
 * Groups for so many ranks of this process into members[], of all ranks of all processes that were started with it,
 * which have as many; once in a process. False: why[size] says so, in a build without MPI how to get one with it, and
 * *code is what the program is to end with. Where MPI itself waits for processes that do not start, this one ends with
 * a message after three times patience (0: 10 seconds).
 */
bool mpi_carrier_open(int ranks, double patience, gr_group *members[], gr_code *code, char *why, size_t size);

/* Behind gr_group_close of all members. After a failure it leaves out MPI's own end, which would wait for the rank. */
void mpi_carrier_close(void);

#endif
