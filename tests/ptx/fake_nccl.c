/*
 * fake_nccl.c - stands in for libnccl.so.2 between GPUs of one process. It keeps NCCL's promises, and as little beyond
 * them as it can:
 *
 *   - a communicator is in progress until every rank has opened it, an exchange until its peer has posted its own
 *   - sends and receives of a group are one; what they move is read and written in the order of both streams
 *   - counts that do not match are a wrong use; a rank that has aborted is a remote error of those that talk to it
 *
 * FAKE_NCCL in the environment: "open" rank 1 cannot; "error N": rank 1's exchange N (from 0) fails; "never N": it does
 * not end; "hang N": the call that asks for it does not come back for four seconds. "old": it is an earlier version.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE_ERROR = 6, IN_PROGRESS = 7 };
enum { RANKS = 8, CLIQUES = 64, NO_TIMING = 2, COPY_DEFAULT = 4 };

typedef struct {
    char internal[128];
} unique_id;

typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking;
} config;

typedef struct {
    const void *data;
    void *room;
    size_t sending, receiving;
    int to, from; /* -1: nobody */
} exchange;

typedef struct communicator {
    int clique, rank, ranks, error, number;
    bool aborted, posted, received, sent;
    exchange now;
    void *stream, *ready, *taken[RANKS];
    bool took[RANKS]; /* from that rank, which has not seen it yet */
} communicator;

/* The CUDA runtime's, of the program. */
int cudaEventCreateWithFlags(void **event, unsigned flags);
int cudaEventRecord(void *event, void *stream);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);

int ncclGetVersion(int *version);
int ncclGetUniqueId(unique_id *id);
int ncclCommInitRankConfig(communicator **comm, int ranks, unique_id id, int rank, const config *c);
int ncclCommAbort(communicator *c);
int ncclCommDestroy(communicator *c);
int ncclCommGetAsyncError(communicator *c, int *error);
int ncclSend(const void *data, size_t count, int type, int peer, communicator *c, void *stream);
int ncclRecv(void *room, size_t count, int type, int peer, communicator *c, void *stream);
int ncclGroupStart(void);
int ncclGroupEnd(void);
const char *ncclGetErrorString(int result);

int fake_nccl_exchanges, fake_nccl_aborts, fake_nccl_open; /* communicators; read when all ranks have ended */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static communicator *cliques[CLIQUES][RANKS];
static int n_cliques;
static _Thread_local bool grouped;
static _Thread_local communicator *of_group;

/* Whether this rank's exchange of that number is to go wrong so. */
static bool goes_wrong(const communicator *c, const char *how)
{
    const char *asked = getenv("FAKE_NCCL");
    char wanted[32];
    snprintf(wanted, sizeof wanted, "%s %d", how, c->number);
    return asked && c->rank == 1 && strcmp(asked, wanted) == 0;
}

int ncclGetVersion(int *version)
{
    const char *asked = getenv("FAKE_NCCL");
    *version = asked && strcmp(asked, "old") == 0 ? 21602 : 21700;
    return SUCCESS;
}

const char *ncclGetErrorString(int result)
{
    return result == SYSTEM_ERROR    ? "unhandled system error"
           : result == INVALID_USAGE ? "invalid usage"
           : result == REMOTE_ERROR  ? "remote process exited or there was a network error"
                                     : "another error";
}

int ncclGetUniqueId(unique_id *id)
{
    pthread_mutex_lock(&mutex);
    memset(id, 0, sizeof *id);
    id->internal[0] = (char)n_cliques++;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

int ncclCommInitRankConfig(communicator **comm, int ranks, unique_id id, int rank, const config *c)
{
    const char *asked = getenv("FAKE_NCCL");
    *comm = NULL;
    if (c->magic != 0xcafebeef || c->blocking != 0 || rank < 0 || rank >= ranks || ranks > RANKS)
        return INVALID_ARGUMENT;
    communicator *own = calloc(1, sizeof *own);
    *own = (communicator){.clique = id.internal[0], .rank = rank, .ranks = ranks};
    cudaEventCreateWithFlags(&own->ready, NO_TIMING);
    for (int i = 0; i < ranks; i++)
        cudaEventCreateWithFlags(&own->taken[i], NO_TIMING);
    if (asked && strcmp(asked, "open") == 0 && rank == 1)
        own->error = SYSTEM_ERROR;
    pthread_mutex_lock(&mutex);
    cliques[own->clique][rank] = own;
    fake_nccl_open++;
    pthread_mutex_unlock(&mutex);
    *comm = own;
    return IN_PROGRESS;
}

/* What others may still look at stays until the process ends. */
int ncclCommAbort(communicator *c)
{
    pthread_mutex_lock(&mutex);
    c->aborted = true;
    fake_nccl_aborts++;
    fake_nccl_open--;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

int ncclCommDestroy(communicator *c)
{
    pthread_mutex_lock(&mutex);
    fake_nccl_open -= !c->posted;
    pthread_mutex_unlock(&mutex);
    return c->posted ? INVALID_USAGE : SUCCESS;
}

/* --- a group ------------------------------------------------------------------------------------------------------ */

int ncclGroupStart(void)
{
    grouped = true;
    of_group = NULL;
    return SUCCESS;
}

/* Begins what GroupEnd posts. */
static bool join(communicator *c, void *stream)
{
    if (!grouped || !stream || c->posted || c->aborted || (of_group && (of_group != c || c->stream != stream)))
        return false;
    if (!of_group)
        c->now = (exchange){.to = -1, .from = -1};
    of_group = c;
    c->stream = stream;
    return true;
}

int ncclSend(const void *data, size_t count, int type, int peer, communicator *c, void *stream)
{
    if (type != 0 || peer < 0 || peer >= c->ranks || !join(c, stream) || c->now.to >= 0)
        return INVALID_ARGUMENT;
    c->now.data = data;
    c->now.sending = count;
    c->now.to = peer;
    return SUCCESS;
}

int ncclRecv(void *room, size_t count, int type, int peer, communicator *c, void *stream)
{
    if (type != 0 || peer < 0 || peer >= c->ranks || !join(c, stream) || c->now.from >= 0)
        return INVALID_ARGUMENT;
    c->now.room = room;
    c->now.receiving = count;
    c->now.from = peer;
    return SUCCESS;
}

int ncclGroupEnd(void)
{
    communicator *c = of_group;
    if (!grouped)
        return INVALID_USAGE;
    grouped = false;
    of_group = NULL;
    if (!c)
        return SUCCESS;
    if (goes_wrong(c, "hang"))
        sleep(4);
    pthread_mutex_lock(&mutex);
    cudaEventRecord(c->ready, c->stream);
    c->posted = true;
    c->received = c->now.from < 0;
    c->sent = c->now.to < 0;
    if (goes_wrong(c, "error"))
        c->error = SYSTEM_ERROR;
    fake_nccl_exchanges++;
    pthread_mutex_unlock(&mutex);
    return IN_PROGRESS;
}

/* --- progress ----------------------------------------------------------------------------------------------------- */

/* Another rank; NULL: it has not opened the communicator. */
static communicator *other(const communicator *c, int rank)
{
    return cliques[c->clique][rank];
}

/* Copies what the peer sends behind what its stream does before, once it has posted it. */
static void receive(communicator *c)
{
    const communicator *peer = other(c, c->now.from);
    if (peer->aborted)
        c->error = REMOTE_ERROR;
    else if (!peer->posted || peer->sent || peer->now.to != c->rank || c->took[c->now.from])
        return;
    else if (peer->now.sending != c->now.receiving)
        c->error = INVALID_USAGE;
    if (c->error)
        return;
    cudaStreamWaitEvent(c->stream, peer->ready, 0);
    cudaMemcpyAsync(c->now.room, peer->now.data, c->now.receiving, COPY_DEFAULT, c->stream);
    cudaEventRecord(c->taken[c->now.from], c->stream);
    c->took[c->now.from] = true;
    c->received = true;
}

/* What this rank's stream does next may overwrite what was sent: so it waits until the peer has it. */
static void see_it_taken(communicator *c)
{
    communicator *peer = other(c, c->now.to);
    if (peer->aborted)
        c->error = REMOTE_ERROR;
    else if (peer->took[c->rank]) {
        cudaStreamWaitEvent(c->stream, peer->taken[c->rank], 0);
        peer->took[c->rank] = false;
        c->sent = true;
    }
}

static void make_progress(communicator *c)
{
    if (goes_wrong(c, "never"))
        return;
    if (!c->received)
        receive(c);
    if (!c->sent && !c->error)
        see_it_taken(c);
    if (c->received && c->sent) {
        c->posted = false;
        c->number++;
    }
}

static bool all_there(const communicator *c)
{
    for (int i = 0; i < c->ranks; i++)
        if (!other(c, i))
            return false;
    return true;
}

int ncclCommGetAsyncError(communicator *c, int *error)
{
    pthread_mutex_lock(&mutex);
    if (!c->error && c->posted)
        make_progress(c);
    *error = c->error ? c->error : c->posted || !all_there(c) ? IN_PROGRESS : SUCCESS;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}
