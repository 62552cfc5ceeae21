/* mpi_absent.c - mpi_carrier.h in a build without MPI. */
#include <stdio.h>

#include "train/mpi_carrier.h"

bool mpi_carrier_open(int ranks, double patience, gr_group *members[], gr_code *code, char *why, size_t size)
{
    (void)ranks;
    (void)patience;
    (void)members;
    *code = GR_USAGE;
    snprintf(why, size,
             "started by mpirun, but this build is without MPI: install libopenmpi-dev or libmpich-dev and "
             "build with -DGRADUS_MPI=ON");
    return false;
}

void mpi_carrier_close(void)
{
}
