/*
 * mpi_carrier.c - see mpi_carrier.h. Exchanges are MPI's own, asked again and again whether they are through, so that
 * a rank that does not come is seen: one whose process is gone from this machine at once, any other after a while.
 */
#include "train/mpi_carrier.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal/system.h"

enum { EXCHANGE = 1, FAREWELL, ASK, ANSWER /* tags */, WORDS = 512, PART = 1 << 30 /* bytes of a message at most */ };

/* Where a rank lives. */
typedef struct {
    char host[MPI_MAX_PROCESSOR_NAME];
    int process;
} address;

typedef struct {
    int rank, ranks;
    double patience;
    address *addresses;
    int waits_for;        /* a rank */
    char farewell[WORDS]; /* of a rank that has ended, or this one's own; "": none */
} carrier;

/* Part of patience after which a rank that waits looks for who is to blame; and the seconds that one has to answer. */
static const double WAIT_SHARE = 0.8, TO_ANSWER = 0.4;

/* --- who is there ------------------------------------------------------------------------------------------------- */

static bool is_gone(const carrier *c, int rank)
{
    const address *there = &c->addresses[rank], *here = &c->addresses[c->rank];
    return strcmp(there->host, here->host) == 0 && kill(there->process, 0) != 0 && errno == ESRCH;
}

/* The first rank of this machine whose process is gone; -1: there is none. */
static int gone_rank(const carrier *c)
{
    for (int i = 0; i < c->ranks; i++)
        if (is_gone(c, i))
            return i;
    return -1;
}

/* Whether a rank has said that it has ended. */
static bool hears_farewell(carrier *c)
{
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, FAREWELL, MPI_COMM_WORLD, &there, &status);
    if (there)
        MPI_Recv(c->farewell, WORDS, MPI_CHAR, status.MPI_SOURCE, FAREWELL, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there;
}

/* Sends a number, and does not wait until it is there. The buffer is one of a few that take turns. */
static void send_number(int number, int peer, int tag)
{
    static int numbers[64], next;
    MPI_Request request;
    numbers[next] = number;
    MPI_Isend(&numbers[next], 1, MPI_INT, peer, tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    next = (next + 1) % 64;
}

/* Receives a number that has come. False: there is none. */
static bool receive_number(int peer, int tag, int *number, int *from)
{
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(peer, tag, MPI_COMM_WORLD, &there, &status);
    if (!there)
        return false;
    *from = status.MPI_SOURCE;
    MPI_Recv(number, 1, MPI_INT, *from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return true;
}

/* Tells whoever asks for whom this rank waits. */
static void answer(const carrier *c)
{
    int nothing, from;
    while (receive_number(MPI_ANY_SOURCE, ASK, &nothing, &from))
        send_number(c->waits_for, from, ANSWER);
}

static void sleep_for(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* Asks along the chain of those that wait for another; the first that does not answer is at its end. */
static int to_blame(const carrier *c, int peer)
{
    for (int hop = 0, next = 0, from; hop < c->ranks; hop++, peer = next) {
        const double until = now_seconds() + TO_ANSWER;
        bool answered = false;
        send_number(0, peer, ASK);
        while (!answered && now_seconds() < until) {
            answer(c);
            answered = receive_number(peer, ANSWER, &next, &from);
            sleep_for(1000000);
        }
        if (!answered || next == c->rank)
            break;
    }
    return peer;
}

/* --- the carrier -------------------------------------------------------------------------------------------------- */

/* Waits for both of a pair of requests, politely once it takes longer. False: why says who is to blame. */
static bool wait_for(carrier *c, MPI_Request pair[2], int peer, char *why, size_t size)
{
    const double begin = now_seconds();
    double looked = begin;
    c->waits_for = peer;
    for (int done = 0, turns = 0; !done; turns++) {
        MPI_Testall(2, pair, &done, MPI_STATUSES_IGNORE);
        if (done || turns < 1000)
            continue;
        sleep_for(50000);
        const double now = now_seconds();
        if (now - looked < 0.1)
            continue;
        looked = now;
        answer(c);
        const int gone = gone_rank(c);
        if (hears_farewell(c))
            snprintf(why, size, "%s", c->farewell);
        else if (gone >= 0)
            snprintf(why, size, "rank %d of %d has died", gone, c->ranks);
        else if (now - begin > WAIT_SHARE * c->patience)
            snprintf(why, size, "rank %d of %d has not been heard of for %.0f s", to_blame(c, peer), c->ranks,
                     now_seconds() - begin);
        else
            continue;
        return false;
    }
    return true;
}

static bool mpi_exchange(void *user, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes,
                         char *why, size_t size)
{
    carrier *c = user;
    const char *from = send;
    char *to = receive;
    do {
        const int out = send_bytes < PART ? (int)send_bytes : PART,
                  in = receive_bytes < PART ? (int)receive_bytes : PART;
        MPI_Request pair[2];
        MPI_Irecv(to, in, MPI_BYTE, peer, EXCHANGE, MPI_COMM_WORLD, &pair[0]);
        MPI_Isend(from, out, MPI_BYTE, peer, EXCHANGE, MPI_COMM_WORLD, &pair[1]);
        if (!wait_for(c, pair, peer, why, size))
            return false;
        from += out;
        to += in;
        send_bytes -= (size_t)out;
        receive_bytes -= (size_t)in;
    } while (send_bytes + receive_bytes > 0);
    return true;
}

/* Says it to all, and waits for nobody: who is gone does not hear. */
static void mpi_fail(void *user, const char *why)
{
    carrier *c = user;
    const bool own = !*c->farewell;
    snprintf(c->farewell, WORDS, "%s", why);
    for (int i = 0; own && i < c->ranks; i++) {
        MPI_Request request;
        if (i != c->rank && !is_gone(c, i))
            MPI_Isend(c->farewell, WORDS, MPI_CHAR, i, FAREWELL, MPI_COMM_WORLD, &request);
    }
    for (int i = 0, there; i < 100; i++) { /* messages go out while MPI is asked something */
        MPI_Iprobe(MPI_ANY_SOURCE, FAREWELL, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        sleep_for(1000000);
    }
}

/*
 * All is well: MPI's own end. Else a rank may be missing, for which it would wait: the process ends without.
 */
static void mpi_close(void *user)
{
    carrier *c = user;
    if (!*c->farewell)
        MPI_Finalize();
    free(c->addresses);
    free(c);
}

gr_group *mpi_carrier_open(double patience, char *why, size_t size)
{
    static const gr_carrier functions = {mpi_exchange, mpi_fail, mpi_close};
    carrier *c = calloc(1, sizeof *c);
    address own = {.process = getpid()};
    int length;
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Get_processor_name(own.host, &length);
    if (c) {
        MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
        MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
        c->patience = patience > 0 ? patience : 10;
        c->addresses = calloc((size_t)c->ranks, sizeof *c->addresses);
    }
    if (c && c->addresses)
        MPI_Allgather(&own, sizeof own, MPI_BYTE, c->addresses, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
    gr_group *g = c && c->addresses ? gr_group_open(c->rank, c->ranks, &functions, c) : NULL;
    if (!g)
        snprintf(why, size, "mpirun has started %d ranks; their number is a power of two, at most %d", c ? c->ranks : 0,
                 GR_MAX_RANKS);
    return g;
}
