/* mpi_carrier.h - ranks that mpirun has started, processes of one machine or of several. */
#ifndef GRADUS_TOOL_MPI_CARRIER_H
#define GRADUS_TOOL_MPI_CARRIER_H

#include <stddef.h>

#include "gradus.h"

/*
 * The group of all ranks that were started with this one; once in a process. NULL: why[size] says so, and in a build
 * without MPI how to get one with it.
 */
gr_group *mpi_carrier_open(double patience, char *why, size_t size);

#endif
