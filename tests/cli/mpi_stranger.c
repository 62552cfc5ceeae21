/* mpi_stranger.c - a program of MPI that is no rank of gradus train. With an argument it says something to rank 0. */
#include <mpi.h>
#include <unistd.h>

enum { HELLO = 6, LIFE = 10 }; /* LIFE in seconds: an mpiexec that ends nobody waits for all */

int main(int argc, char **argv)
{
    char words[100] = "Good evening";
    alarm(LIFE);
    MPI_Init(&argc, &argv);
    if (argc > 1)
        MPI_Send(words, sizeof words, MPI_CHAR, 0, HELLO, MPI_COMM_WORLD);
    for (;;)
        pause();
}
