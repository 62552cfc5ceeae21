/* mpi_absent.c - mpi_carrier.h in a build without MPI. */
#include <stdio.h>

#include "train/mpi_carrier.h"

gr_group *mpi_carrier_open(double patience, gr_code *code, char *why, size_t size)
{
    (void)patience;
    *code = GR_USAGE;
    snprintf(why, size,
             "started by mpirun, but this build is without MPI: install libopenmpi-dev or libmpich-dev and "
             "build with -DGRADUS_MPI=ON");
    return NULL;
}
