/*
 * mpi_carrier.c - see mpi_carrier.h. Exchanges are MPI's own, also between ranks of one process, and asked again and
 * again whether they are through, so that a rank that does not come is seen: one whose process is gone from this
 * machine at once, any other after a while. Every exchange goes with a frame that says which it is and how long: what
 * does not fit is refused, its rank named.
 */
#include "train/mpi_carrier.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "terminal/system.h"
#include "train/mpi_process.h"

enum { WORDS = 512, PART = 1 << 30 /* bytes of a message at most */, NOBODY = -1 };

/* Bytes of gradients that go to other machines at a time: 34 ms at 1 Gbit/s, beside which a latency is little. */
enum { BUCKET = 4 << 20 };

/* What goes with the bytes of an exchange. */
typedef struct {
    char mark[MPI_MARK_BYTES];
    int64_t number, bytes; /* of the two ranks' exchanges, from 0; of this one */
} frame;

/* A rank's, used by its thread alone. */
typedef struct {
    int rank, ranks;
    int64_t *exchanges;   /* with each rank so far */
    frame sent, received; /* of the exchange under way */
    int waits_for;        /* a rank; itself: the devices of others, and not known whose */
    char farewell[WORDS]; /* of a rank that has ended, or this one's own; "": none */
} carrier;

static mpi_process here;
static bool has_failed; /* a rank of this process; under the lock */

/* Seconds in which a rank that waits does nothing else. */
static const double EAGER = 0.001;

/* Part of patience after which a rank that waits looks for who is to blame; and the seconds that one has to answer. */
static const double WAIT_SHARE = 0.8, TO_ANSWER = 0.4;

/* Seconds for what is given up to end, and for farewells to go out. Few: mpirun ends who is left when one has died. */
static const double TO_END = 0.1;

/* --- who speaks to whom ------------------------------------------------------------------------------------------- */

static int process_of(int rank)
{
    return rank / here.each;
}

/* Of a message to a rank that anyone may send. */
static int tag_to(int kind, int rank)
{
    return kind + MPI_KINDS * (rank % here.each);
}

/* Of one that is for the two ranks alone. */
static int tag_between(int kind, int from, int to)
{
    return tag_to(kind, to) + MPI_KINDS * here.each * (from % here.each);
}

/* Sends a number, and does not wait until it is there. The buffer is one of a few that take turns. */
static void send_number(int number, int to, int tag)
{
    static int numbers[256], next;
    MPI_Request request;
    mpi_lock();
    numbers[next] = number;
    MPI_Isend(&numbers[next], 1, MPI_INT, process_of(to), tag, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
    next = (next + 1) % 256;
    mpi_unlock();
}

/* Receives what has come with this tag. False: nothing has. */
static bool receive(int process, int tag, void *data, int count, MPI_Datatype type)
{
    int there = 0;
    MPI_Status status;
    mpi_lock();
    MPI_Iprobe(process, tag, MPI_COMM_WORLD, &there, &status);
    if (there)
        MPI_Recv(data, count, type, status.MPI_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mpi_unlock();
    return there;
}

/* --- who is there ------------------------------------------------------------------------------------------------- */

/* The first rank of this machine whose process is gone; NOBODY: there is none. */
static int gone_rank(void)
{
    for (int i = 0; i < here.processes; i++)
        if (mpi_process_is_gone(&here, i))
            return i * here.each;
    return NOBODY;
}

/* Whether a rank has said that it has ended. */
static bool hears_farewell(carrier *c)
{
    return receive(MPI_ANY_SOURCE, tag_to(MPI_FAREWELL, c->rank), c->farewell, WORDS, MPI_CHAR);
}

/* Tells whoever asks for whom this rank waits. */
static void answer(const carrier *c)
{
    int from;
    while (receive(MPI_ANY_SOURCE, tag_to(MPI_ASK, c->rank), &from, 1, MPI_INT))
        send_number(c->waits_for, from, tag_between(MPI_ANSWER, c->rank, from));
}

static void sleep_for(long nanoseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

/* For whom a rank waits; NOBODY: it does not answer, as it is not waiting. */
static int asked(const carrier *c, int rank)
{
    const double until = now_seconds() + TO_ANSWER;
    int waits_for = NOBODY;
    send_number(c->rank, rank, tag_to(MPI_ASK, rank));
    while (waits_for == NOBODY && now_seconds() < until) {
        answer(c);
        receive(process_of(rank), tag_between(MPI_ANSWER, rank, c->rank), &waits_for, 1, MPI_INT);
        sleep_for(1000000);
    }
    return waits_for;
}

/*
 * Says who is to blame that this rank has waited for so long: the end of the chain of those that wait for another, or
 * the two at its end that wait for each other.
 */
static void blame(const carrier *c, double seconds, char *why, size_t size)
{
    int before = c->rank, blamed = c->waits_for, next = NOBODY;
    for (int hop = 0; hop < c->ranks && blamed != before && (next = asked(c, blamed)) != NOBODY && next != before;
         hop++) {
        before = blamed;
        blamed = next;
    }
    if (blamed == before)
        snprintf(why, size, "the device of rank %d of %d has waited for those of others for %.0f s", blamed, c->ranks,
                 seconds);
    else if (next == before)
        snprintf(why, size, "ranks %d and %d of %d have waited for each other for %.0f s",
                 next < blamed ? next : blamed, next < blamed ? blamed : next, c->ranks, seconds);
    else
        snprintf(why, size, "rank %d of %d has not been heard of for %.0f s", blamed, c->ranks, seconds);
}

/* --- an exchange -------------------------------------------------------------------------------------------------- */

/* Messages between two ranks that are under way. */
typedef struct {
    int peer, n;
    MPI_Request requests[4];
    int wanted[4]; /* bytes that one received must have; -1: it is sent */
} flight;

static void post(const carrier *c, flight *f, int kind, const void *send, int out, void *room, int in)
{
    const int process = process_of(f->peer);
    mpi_lock();
    MPI_Irecv(room, in, MPI_BYTE, process, tag_between(kind, f->peer, c->rank), MPI_COMM_WORLD, &f->requests[f->n]);
    f->wanted[f->n++] = in;
    MPI_Isend(send, out, MPI_BYTE, process, tag_between(kind, c->rank, f->peer), MPI_COMM_WORLD, &f->requests[f->n]);
    f->wanted[f->n++] = -1;
    mpi_unlock();
}

/* Whether the messages that this rank was to receive are over, one way or another. */
static bool is_over(flight *f)
{
    int over = 1;
    mpi_lock();
    for (int i = 0; i < f->n && over; i++)
        if (f->wanted[i] >= 0 && f->requests[i] != MPI_REQUEST_NULL)
            MPI_Test(&f->requests[i], &over, MPI_STATUS_IGNORE);
    mpi_unlock();
    return over;
}

/*
 * Nothing is to be received any more into memory that its owner gets back. What had begun to come when its sender died
 * is never over: it is not waited for.
 */
static void abandon(flight *f)
{
    mpi_lock();
    for (int i = 0; i < f->n; i++)
        if (f->wanted[i] >= 0 && f->requests[i] != MPI_REQUEST_NULL)
            MPI_Cancel(&f->requests[i]);
    mpi_unlock();
    for (const double until = now_seconds() + TO_END; !is_over(f) && now_seconds() < until;)
        sleep_for(1000000);
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

static bool has_landed_in_turn(flight *f, char *why, size_t size)
{
    mpi_lock();
    const bool landed = has_landed(f, why, size);
    mpi_unlock();
    return landed;
}

/* What is the matter after so many seconds of waiting: why, or "" where nothing is. Who waits for nobody is silent. */
static void look_around(carrier *c, double seconds, char *why, size_t size)
{
    const int gone = gone_rank();
    const bool waits = c->waits_for != NOBODY;
    if (waits)
        answer(c);
    if (hears_farewell(c))
        snprintf(why, size, "%s", c->farewell);
    else if (gone != NOBODY)
        snprintf(why, size, "rank %d of %d has died", gone, c->ranks);
    else if (waits && seconds > WAIT_SHARE * here.patience)
        blame(c, seconds, why, size);
}

/*
 * Waits, politely once the peer takes longer; when it has come, bytes move only while MPI is asked. False: why says who
 * is to blame.
 */
static bool land(carrier *c, flight *f, char *why, size_t size)
{
    const double begin = now_seconds();
    double looked = begin;
    *why = '\0';
    c->waits_for = f->peer;
    while (!has_landed_in_turn(f, why, size) && !*why) {
        const double now = now_seconds();
        if (now - begin < EAGER)
            continue;
        if (*c->received.mark)
            sched_yield();
        else
            sleep_for(50000);
        if (now - looked < 0.1)
            continue;
        looked = now;
        look_around(c, now - begin, why, size);
    }
    if (*why)
        abandon(f);
    return !*why;
}

/* Whether the peer is at the same exchange as this rank. False: why says what it is at. */
static bool fits(const carrier *c, int peer, int64_t bytes, char *why, size_t size)
{
    const frame *f = &c->received;
    if (memcmp(f->mark, mpi_mark, MPI_MARK_BYTES) != 0)
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

static bool mpi_exchange(void *user, int peer, const void *send, size_t send_bytes, void *room, size_t room_bytes,
                         char *why, size_t size)
{
    carrier *c = user;
    const char *from = send;
    char *to = room;
    size_t out = 0, in = 0; /* bytes posted */
    c->sent = (frame){.number = c->exchanges[peer]++, .bytes = (int64_t)send_bytes};
    memcpy(c->sent.mark, mpi_mark, MPI_MARK_BYTES);
    c->received = (frame){.number = -1};
    do {
        flight f = {.peer = peer};
        const int sending = part_of(send_bytes - out), receiving = part_of(room_bytes - in);
        const bool first = out + in == 0;
        if (first)
            post(c, &f, MPI_FRAME, &c->sent, sizeof c->sent, &c->received, sizeof c->received);
        post(c, &f, MPI_EXCHANGE, from + out, sending, to + in, receiving);
        const bool landed = land(c, &f, why, size);
        if (first && (landed || *c->received.mark) && !fits(c, peer, (int64_t)room_bytes, why, size))
            return false;
        if (!landed)
            return false;
        out += (size_t)sending;
        in += (size_t)receiving;
    } while (out < send_bytes || in < room_bytes);
    return true;
}

/* --- the rest of the carrier -------------------------------------------------------------------------------------- */

/* Says it to all, and waits for nobody: who is gone does not hear. */
static void mpi_fail(void *user, const char *why)
{
    carrier *c = user;
    const bool own = !*c->farewell;
    char heard[WORDS];
    snprintf(c->farewell, WORDS, "%s", why);
    mpi_lock();
    has_failed = true;
    for (int i = 0; own && i < c->ranks; i++) {
        MPI_Request request;
        if (i != c->rank && !mpi_process_is_gone(&here, process_of(i)))
            MPI_Isend(c->farewell, WORDS, MPI_CHAR, process_of(i), tag_to(MPI_FAREWELL, i), MPI_COMM_WORLD, &request);
    }
    mpi_unlock();
    for (const double until = now_seconds() + TO_END; now_seconds() < until;) { /* MPI sends while it is asked */
        receive(MPI_ANY_SOURCE, tag_to(MPI_FAREWELL, c->rank), heard, WORDS, MPI_CHAR);
        sleep_for(1000000);
    }
}

static bool mpi_look(void *user, int peer, double seconds, char *why, size_t size)
{
    carrier *c = user;
    *why = '\0';
    c->waits_for = peer;
    look_around(c, seconds, why, size);
    return !*why;
}

static void free_carrier(carrier *c)
{
    if (c)
        free(c->exchanges);
    free(c);
}

/* What a rank has said at its end may still be on its way. */
static void mpi_close(void *user)
{
    carrier *c = user;
    if (!*c->farewell)
        free_carrier(c);
}

static gr_group *open_member(int rank)
{
    const int64_t bucket = here.far && here.in_turns ? BUCKET : 0;
    const gr_carrier functions = {mpi_exchange, mpi_fail, mpi_close, mpi_look, here.patience, bucket};
    carrier *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    *c = (carrier){.rank = rank, .ranks = here.processes * here.each, .waits_for = NOBODY};
    c->exchanges = calloc((size_t)c->ranks, sizeof *c->exchanges);
    gr_group *g = c->exchanges ? gr_group_open(rank, c->ranks, &functions, c) : NULL;
    if (!g)
        free_carrier(c);
    return g;
}

bool mpi_carrier_open(int ranks, double patience, gr_group *members[], gr_code *code, char *why, size_t size)
{
    *code = mpi_process_start(&here, ranks, patience, why, size);
    for (int i = 0; *code == GR_OK && i < ranks; i++) {
        members[i] = open_member(here.number * here.each + i);
        if (members[i])
            continue;
        while (i-- > 0)
            gr_group_close(members[i]);
        *code = GR_NO_MEMORY;
        snprintf(why, size, "out of host memory for %d ranks", ranks);
    }
    return *code == GR_OK;
}

void mpi_carrier_close(void)
{
    free(here.addresses);
    if (!has_failed)
        MPI_Finalize();
}
