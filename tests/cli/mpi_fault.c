/*
 * mpi_fault.c - preloaded into a rank, it makes one of its messages wrong. GRADUS_MPI_FAULT="KIND TAG N": message N,
 * from 0, of those with that tag and more than 8 bytes is sent short (half of it), long (8 bytes more) or as garbage;
 * with "init 0 0" the rank never comes back from MPI_Init_thread, with "single 0 0" it may have one thread alone, with
 * "late 0 0" it reads what others have introduced themselves by a while after they have read what it has.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char kind[16];
static int wrong_tag = -1, wrong_number;

static void read_fault(void)
{
    const char *text = getenv("GRADUS_MPI_FAULT");
    if (!text || sscanf(text, "%15s %d %d", kind, &wrong_tag, &wrong_number) != 3)
        fprintf(stderr, "mpi_fault: GRADUS_MPI_FAULT is not KIND TAG N\n");
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *level)
{
    read_fault();
    while (strcmp(kind, "init") == 0)
        pause();
    const int code = PMPI_Init_thread(argc, argv, wanted, level);
    if (strcmp(kind, "single") == 0)
        *level = MPI_THREAD_SINGLE;
    return code;
}

/* What a rank does once with each of the others, having sent them its introduction. */
int MPI_Request_free(MPI_Request *request)
{
    if (strcmp(kind, "late") == 0)
        sleep(1);
    return PMPI_Request_free(request);
}

int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    static char other[1 << 20];
    static int number;
    if (tag != wrong_tag || count <= 8 || number++ != wrong_number || count + 8 > (int)sizeof other)
        return PMPI_Isend(data, count, type, to, tag, comm, request);
    memset(other, 0xa5, sizeof other);
    if (strcmp(kind, "garbage") != 0)
        memcpy(other, data, (size_t)count);
    const int sent = strcmp(kind, "short") == 0 ? count / 2 : strcmp(kind, "long") == 0 ? count + 8 : count;
    return PMPI_Isend(other, sent, MPI_BYTE, to, tag, comm, request);
}
