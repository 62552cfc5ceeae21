/* mpi_stranger.c - a program of MPI that is no rank of gradus train. With an argument it says something to rank 0. */
#include <mpi.h>
#include <unistd.h>

enum { HELLO = 6 };

int main(int argc, char **argv)
{
    char words[100] = "Good evening";
    MPI_Init(&argc, &argv);
    if (argc > 1)
        MPI_Send(words, sizeof words, MPI_CHAR, 0, HELLO, MPI_COMM_WORLD);
    for (;;)
        pause();
}
