/* mpi_carrier.h - ranks that mpirun has started, processes of one machine or of several. */
#ifndef GRADUS_TOOL_MPI_CARRIER_H
#define GRADUS_TOOL_MPI_CARRIER_H

#include <stddef.h>

#include "gradus.h"

/*
 * The group of all ranks that were started with this one; once in a process. NULL: why[size] says so, in a build
 * without MPI how to get one with it, and *code is what the program is to end with. Where MPI itself waits for ranks
 * that do not start, the process ends with a message after three times patience (0: 10 seconds).
 */
gr_group *mpi_carrier_open(double patience, gr_code *code, char *why, size_t size);

#endif
