/*
 * mpi_carrier.c - see mpi_carrier.h. Exchanges are MPI's own, asked again and again whether they are through, so that
 * a rank that does not come is seen: one whose process is gone from this machine at once, any other after a while.
 * Every exchange goes with a frame that says which it is and how long: what does not fit is refused, its rank named.
 */
#include "train/mpi_carrier.h"

#include <errno.h>
#include <math.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal/system.h"

enum { EXCHANGE = 1, FRAME, FAREWELL, ASK, ANSWER, HELLO /* tags */ };
enum { WORDS = 512, PART = 1 << 30 /* bytes of a message at most */, MARK_BYTES = 16 };

/* What every rank of gradus train begins with. */
static const char MARK[MARK_BYTES] = "gradus rank 1.0";

/* How a rank introduces itself: where it lives. */
typedef struct {
    char mark[MARK_BYTES], host[MPI_MAX_PROCESSOR_NAME];
    int process;
} address;

/* What goes with the bytes of an exchange. */
typedef struct {
    char mark[MARK_BYTES];
    int64_t number, bytes; /* of the two ranks' exchanges, from 0; of this one */
} frame;

typedef struct {
    int rank, ranks;
    double patience;
    address *addresses;
    int64_t *exchanges;   /* with each rank so far */
    frame sent, received; /* of the exchange under way */
    int waits_for;        /* a rank */
    char farewell[WORDS]; /* of a rank that has ended, or this one's own; "": none */
} carrier;

/* Part of patience after which a rank that waits looks for who is to blame; and the seconds that one has to answer. */
static const double WAIT_SHARE = 0.8, TO_ANSWER = 0.4;

/* Patiences that ranks have to start in. */
static const double TO_START = 3;

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

/* Messages of one rank that are under way. */
typedef struct {
    int peer, n;
    MPI_Request requests[4];
    int wanted[4]; /* bytes that one received must have; -1: it is sent */
} flight;

static void post(flight *f, int tag, const void *send, int out, void *receive, int in)
{
    MPI_Irecv(receive, in, MPI_BYTE, f->peer, tag, MPI_COMM_WORLD, &f->requests[f->n]);
    f->wanted[f->n++] = in;
    MPI_Isend(send, out, MPI_BYTE, f->peer, tag, MPI_COMM_WORLD, &f->requests[f->n]);
    f->wanted[f->n++] = -1;
}

/* Nothing is received any more into memory that its owner gets back. */
static void abandon(flight *f)
{
    for (int i = 0; i < f->n; i++) {
        if (f->requests[i] == MPI_REQUEST_NULL || f->wanted[i] < 0)
            continue;
        MPI_Cancel(&f->requests[i]);
        MPI_Wait(&f->requests[i], MPI_STATUS_IGNORE);
    }
}

/* Whether a message has come as it was to come. False: why says what is wrong. */
static bool is_whole(const flight *f, int i, const MPI_Status *status, int error, char *why, size_t size)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_SUCCESS, bytes = f->wanted[i], length;
    MPI_Error_class(error, &class);
    if (class == MPI_SUCCESS && f->wanted[i] >= 0)
        MPI_Get_count(status, MPI_BYTE, &bytes);
    if (class != MPI_SUCCESS)
        MPI_Error_string(error, text, &length);
    if (class == MPI_ERR_TRUNCATE)
        snprintf(why, size, "rank %d has sent more than the %d bytes that were expected of it", f->peer, f->wanted[i]);
    else if (class != MPI_SUCCESS)
        snprintf(why, size, "rank %d cannot be reached: %s", f->peer, text);
    else if (bytes != f->wanted[i])
        snprintf(why, size, "rank %d has sent %d bytes where %d were expected", f->peer, bytes, f->wanted[i]);
    return class == MPI_SUCCESS && bytes == f->wanted[i];
}

/* Whether all messages are there. False: not yet; or, with words in why, one of them is wrong. */
static bool has_landed(flight *f, char *why, size_t size)
{
    MPI_Status statuses[4];
    int done = 0;
    const int code = MPI_Testall(f->n, f->requests, &done, statuses);
    if (code == MPI_SUCCESS && !done)
        return false;
    for (int i = 0; i < f->n; i++) {
        const int error = code == MPI_ERR_IN_STATUS ? statuses[i].MPI_ERROR : code;
        if (error != MPI_ERR_PENDING && !is_whole(f, i, &statuses[i], error, why, size))
            return false;
    }
    return done;
}

/* What is the matter after so many seconds of waiting: why, or "" where nothing is. */
static void look_around(carrier *c, int peer, double seconds, char *why, size_t size)
{
    const int gone = gone_rank(c);
    answer(c);
    if (hears_farewell(c))
        snprintf(why, size, "%s", c->farewell);
    else if (gone >= 0)
        snprintf(why, size, "rank %d of %d has died", gone, c->ranks);
    else if (seconds > WAIT_SHARE * c->patience)
        snprintf(why, size, "rank %d of %d has not been heard of for %.0f s", to_blame(c, peer), c->ranks, seconds);
}

/* Waits, politely once it takes longer. False: why says who is to blame. */
static bool land(carrier *c, flight *f, char *why, size_t size)
{
    const double begin = now_seconds();
    double looked = begin;
    *why = '\0';
    c->waits_for = f->peer;
    for (int turns = 0; !has_landed(f, why, size) && !*why; turns++) {
        if (turns < 1000)
            continue;
        sleep_for(50000);
        const double now = now_seconds();
        if (now - looked < 0.1)
            continue;
        looked = now;
        look_around(c, f->peer, now - begin, why, size);
    }
    if (*why)
        abandon(f);
    return !*why;
}

/* Whether the peer is at the same exchange as this rank. False: why says what it is at. */
static bool fits(const carrier *c, int peer, int64_t bytes, char *why, size_t size)
{
    const frame *f = &c->received;
    if (memcmp(f->mark, MARK, MARK_BYTES) != 0)
        snprintf(why, size, "rank %d has sent what no rank of gradus train sends", peer);
    else if (f->number != c->sent.number || f->bytes != bytes)
        snprintf(why, size, "rank %d is at exchange %lld, of %lld bytes, and rank %d at %lld, of %lld", peer,
                 (long long)f->number, (long long)f->bytes, c->rank, (long long)c->sent.number, (long long)bytes);
    else
        return true;
    return false;
}

static int part_of(size_t bytes)
{
    return bytes < PART ? (int)bytes : PART;
}

static bool mpi_exchange(void *user, int peer, const void *send, size_t send_bytes, void *receive, size_t receive_bytes,
                         char *why, size_t size)
{
    carrier *c = user;
    const char *from = send;
    char *to = receive;
    size_t out = 0, in = 0; /* bytes posted */
    c->sent = (frame){.number = c->exchanges[peer]++, .bytes = (int64_t)send_bytes};
    memcpy(c->sent.mark, MARK, MARK_BYTES);
    c->received = (frame){.number = -1};
    do {
        flight f = {.peer = peer};
        const int sending = part_of(send_bytes - out), receiving = part_of(receive_bytes - in);
        const bool first = out + in == 0;
        if (first)
            post(&f, FRAME, &c->sent, sizeof c->sent, &c->received, sizeof c->received);
        post(&f, EXCHANGE, from + out, sending, to + in, receiving);
        const bool landed = land(c, &f, why, size);
        if (first && (landed || *c->received.mark) && !fits(c, peer, (int64_t)receive_bytes, why, size))
            return false;
        if (!landed)
            return false;
        out += (size_t)sending;
        in += (size_t)receiving;
    } while (out < send_bytes || in < receive_bytes);
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

/* Somebody may be asking for whom this rank waits, which is its device. */
static bool mpi_look(void *user, char *why, size_t size)
{
    carrier *c = user;
    *why = '\0';
    c->waits_for = c->rank;
    look_around(c, c->rank, 0, why, size);
    return !*why;
}

static void free_carrier(carrier *c)
{
    if (c) {
        free(c->addresses);
        free(c->exchanges);
    }
    free(c);
}

/*
 * All is well: MPI's own end. Else a rank may be missing, for which it would wait: the process ends without.
 */
static void mpi_close(void *user)
{
    carrier *c = user;
    if (!*c->farewell)
        MPI_Finalize();
    free_carrier(c);
}

/* --- the start ---------------------------------------------------------------------------------------------------- */

static char never_started[WORDS];

static void say_never_started(int signal_number)
{
    (void)signal_number;
    const ssize_t written = write(STDERR_FILENO, never_started, strlen(never_started));
    _exit(written >= 0 ? GR_DEVICE_FAULT : GR_IO_ERROR);
}

/* MPI_Init, which waits for all ranks without end, with one: the process' own, as there is nothing to return to. */
static void start_mpi(double limit)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    const char *rank = open_mpi ? open_mpi : mpich ? mpich : "of unknown number";
    snprintf(never_started, sizeof never_started,
             "gradus train: rank %s: MPI_Init has not come back for %.0f s: other ranks have not started\n", rank,
             limit);
    const struct sigaction watch = {.sa_handler = say_never_started};
    struct sigaction before;
    sigaction(SIGALRM, &watch, &before);
    alarm((unsigned)ceil(limit));
    MPI_Init(NULL, NULL);
    alarm(0);
    sigaction(SIGALRM, &before, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

/* Whether a rank's introduction has come, and is one. False: why says what is wrong, "": it has not come yet. */
static bool is_introduced(const carrier *c, int rank, MPI_Request *request, char *why, size_t size)
{
    int done = *request == MPI_REQUEST_NULL, bytes = sizeof(address);
    MPI_Status status;
    if (done)
        return true;
    const int code = MPI_Test(request, &done, &status);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (code == MPI_SUCCESS && bytes == sizeof(address) && !memcmp(c->addresses[rank].mark, MARK, MARK_BYTES))
        return true;
    snprintf(why, size, "rank %d of %d is no rank of gradus train: it has introduced itself by something else", rank,
             c->ranks);
    return false;
}

/* All tell all where they live. False: why names the rank that does not. */
static bool introduce(carrier *c, const address *own, double limit, char *why, size_t size)
{
    MPI_Request requests[GR_MAX_RANKS], sent;
    const double begin = now_seconds();
    *why = '\0';
    for (int i = 0; i < c->ranks; i++) {
        MPI_Irecv(&c->addresses[i], sizeof *own, MPI_BYTE, i, HELLO, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(own, sizeof *own, MPI_BYTE, i, HELLO, MPI_COMM_WORLD, &sent);
        MPI_Request_free(&sent);
    }
    for (int i = 0; i < c->ranks && !*why;) {
        if (is_introduced(c, i, &requests[i], why, size)) {
            i++;
        } else if (now_seconds() - begin > limit) {
            snprintf(why, size, "rank %d of %d is no rank of gradus train: it has not introduced itself for %.0f s", i,
                     c->ranks, limit);
        } else {
            sleep_for(200000);
        }
    }
    return !*why;
}

static gr_code open_carrier(carrier *c, char *why, size_t size)
{
    static address own = {.process = 0}; /* still being sent when this returns */
    int length;
    memcpy(own.mark, MARK, MARK_BYTES);
    own.process = getpid();
    MPI_Get_processor_name(own.host, &length);
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &c->ranks);
    snprintf(why, size, "mpirun has started %d ranks; their number is a power of two, at most %d", c->ranks,
             GR_MAX_RANKS);
    if (c->ranks > GR_MAX_RANKS || (c->ranks & (c->ranks - 1)))
        return GR_USAGE;
    snprintf(why, size, "out of host memory for %d ranks", c->ranks);
    c->addresses = calloc((size_t)c->ranks, sizeof *c->addresses);
    c->exchanges = calloc((size_t)c->ranks, sizeof *c->exchanges);
    if (!c->addresses || !c->exchanges)
        return GR_NO_MEMORY;
    return introduce(c, &own, TO_START * c->patience, why, size) ? GR_OK : GR_DEVICE_FAULT;
}

gr_group *mpi_carrier_open(double patience, gr_code *code, char *why, size_t size)
{
    const gr_carrier functions = {mpi_exchange, mpi_fail, mpi_close, mpi_look, patience};
    carrier *c = calloc(1, sizeof *c);
    gr_group *g = NULL;
    snprintf(why, size, "out of host memory");
    *code = GR_NO_MEMORY;
    if (c) {
        c->patience = patience > 0 ? patience : 10;
        start_mpi(TO_START * c->patience);
        *code = open_carrier(c, why, size);
    }
    if (c && *code == GR_OK && !(g = gr_group_open(c->rank, c->ranks, &functions, c)))
        *code = GR_NO_MEMORY;
    if (!g)
        free_carrier(c);
    return g;
}
