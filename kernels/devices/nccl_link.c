/*
 * nccl_link.c - see nccl_link.h. NCCL carries bytes from GPU to GPU (ncclSend, ncclRecv) and adds nothing: the order of
 * its own sums is its own, that of ours is a tree which does not depend on the number of ranks.
 *
 * The communicator does not block: what takes its time is in progress, and is asked for until it is not, with an eye on
 * the other ranks. So one that does not come ends in an abort, and never in waiting for ever.
 *
 * The declarations are those of NCCL's API reference, of version 2.17.
 */
#include "kernels/devices/nccl_link.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"

enum { ID_BYTES = 128, UUID_BYTES = 16, OLDEST = 21700 /* 2.17.0 */, SUCCESS = 0, IN_PROGRESS = 7, BYTE = 0 };

typedef struct {
    char internal[ID_BYTES];
} nccl_id;

typedef struct nccl_comm nccl_comm;

/* ncclConfig_t; an int that is not set is INT_MIN. */
typedef struct {
    size_t size;
    unsigned magic, version;
    int blocking, cga_cluster_size, min_ctas, max_ctas;
    const char *net_name;
} nccl_config;

typedef struct {
    int (*version)(int *version);
    int (*unique_id)(nccl_id *id);
    int (*open)(nccl_comm **comm, int ranks, nccl_id id, int rank, nccl_config *config);
    int (*abort)(nccl_comm *comm);
    int (*destroy)(nccl_comm *comm);
    int (*async_error)(nccl_comm *comm, int *error);
    int (*send)(const void *data, size_t count, int type, int peer, nccl_comm *comm, void *stream);
    int (*receive)(void *data, size_t count, int type, int peer, nccl_comm *comm, void *stream);
    int (*group_start)(void);
    int (*group_end)(void);
    const char *(*error_string)(int result);
} nccl_functions;

typedef struct {
    gr_link link; /* first: a gr_link * is an nccl_link * */
    gr_group *group;
    void *library, *stream;
    nccl_functions nccl;
    nccl_comm *comm; /* NULL: aborted, or not open yet */
} nccl_link;

static nccl_link *nccl_of(gr_link *l)
{
    return (nccl_link *)l;
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

/* False: result is no success: why tells while what, or which rank has ended: that comes before what follows of it. */
static bool is_good(const nccl_link *l, int result, const char *what, char *why, size_t size)
{
    if (result != SUCCESS && result != IN_PROGRESS && gr__group_waits(l->group, gr__seconds(), why, size))
        snprintf(why, size, "rank %d: NCCL's %s: %s (NCCL_DEBUG=WARN says more; GRADUS_NCCL=off does without NCCL)",
                 gr_group_rank(l->group), what, l->nccl.error_string(result));
    return result == SUCCESS || result == IN_PROGRESS;
}

/* What was begun is no more in progress. False: it has failed, or is not worth waiting for: why. */
static bool wait_for(nccl_link *l, int result, const char *what, char *why, size_t size)
{
    const double begin = gr__seconds();
    if (!is_good(l, result, what, why, size))
        return false;
    for (int state = IN_PROGRESS, turns = 0; state == IN_PROGRESS; turns++) {
        if (!is_good(l, l->nccl.async_error(l->comm, &state), what, why, size) || !is_good(l, state, what, why, size))
            return false;
        if (state == IN_PROGRESS && turns > 100) { /* not even now: let others have the processor, and look around */
            if (!gr__group_waits(l->group, begin, why, size))
                return false;
            nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
        }
    }
    return true;
}

/* --- the link ----------------------------------------------------------------------------------------------------- */

static bool nccl_exchange(gr_link *link, int peer, const void *send, size_t send_bytes, void *receive,
                          size_t receive_bytes, char *why, size_t size)
{
    nccl_link *l = nccl_of(link);
    const nccl_functions *n = &l->nccl;
    snprintf(why, size, "rank %d has given up its communicator", gr_group_rank(l->group));
    if (!l->comm)
        return false;
    *why = '\0';
    int result = n->group_start();
    if (result == SUCCESS && send_bytes > 0)
        result = n->send(send, send_bytes, BYTE, peer, l->comm, l->stream);
    if ((result == SUCCESS || result == IN_PROGRESS) && receive_bytes > 0)
        result = n->receive(receive, receive_bytes, BYTE, peer, l->comm, l->stream);
    const int ended = n->group_end(); /* also where one has failed: the group is to be closed */
    return is_good(l, result, "exchange", why, size) && wait_for(l, ended, "exchange", why, size);
}

static bool nccl_check(gr_link *link, char *why, size_t size)
{
    nccl_link *l = nccl_of(link);
    int state = SUCCESS;
    return l->comm && is_good(l, l->nccl.async_error(l->comm, &state), "exchange", why, size) &&
           is_good(l, state, "exchange", why, size);
}

static void nccl_abort(gr_link *link)
{
    nccl_link *l = nccl_of(link);
    if (l->comm)
        l->nccl.abort(l->comm);
    l->comm = NULL;
}

static void nccl_close(gr_link *link)
{
    nccl_link *l = nccl_of(link);
    if (l->comm)
        l->nccl.destroy(l->comm);
    dlclose(l->library);
    free(l);
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

static bool find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function;
}

static bool find_all(void *library, nccl_functions *n)
{
    return find(library, "ncclGetVersion", &n->version) && find(library, "ncclGetUniqueId", &n->unique_id) &&
           find(library, "ncclCommInitRankConfig", &n->open) && find(library, "ncclCommAbort", &n->abort) &&
           find(library, "ncclCommDestroy", &n->destroy) && find(library, "ncclCommGetAsyncError", &n->async_error) &&
           find(library, "ncclSend", &n->send) && find(library, "ncclRecv", &n->receive) &&
           find(library, "ncclGroupStart", &n->group_start) && find(library, "ncclGroupEnd", &n->group_end) &&
           find(library, "ncclGetErrorString", &n->error_string);
}

/* NULL: it is not there, too old, or not wanted. */
static nccl_link *open_library(void)
{
    const char *wanted = getenv("GRADUS_NCCL");
    nccl_link *l = wanted && strcmp(wanted, "off") == 0 ? NULL : calloc(1, sizeof *l);
    int version = 0;
    if (l && (l->library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL)) && find_all(l->library, &l->nccl) &&
        l->nccl.version(&version) == SUCCESS && version >= OLDEST)
        return l;
    if (l && l->library)
        dlclose(l->library);
    free(l);
    return NULL;
}

/* What a rank tells the others before they decide. */
typedef struct {
    char has, uuid[UUID_BYTES];
} offer;

/* Whether all ranks have NCCL, and GPUs of their own. */
static bool all_can(const offer *all, int ranks)
{
    for (int i = 0; i < ranks; i++) {
        if (!all[i].has)
            return false;
        for (int j = 0; j < i; j++)
            if (memcmp(all[i].uuid, all[j].uuid, UUID_BYTES) == 0)
                return false;
    }
    return true;
}

/* All ranks at once. False: why. */
static bool open_communicator(nccl_link *l, char *why, size_t size)
{
    nccl_id id;
    nccl_config config = {.size = sizeof config,
                          .magic = 0xcafebeef,
                          .version = OLDEST,
                          .blocking = 0,
                          .cga_cluster_size = INT_MIN,
                          .min_ctas = INT_MIN,
                          .max_ctas = INT_MIN};
    const int rank = gr_group_rank(l->group);
    memset(&id, 0, sizeof id);
    if (rank == 0 && !is_good(l, l->nccl.unique_id(&id), "ncclGetUniqueId", why, size))
        return false;
    if (!gr_group_broadcast(l->group, &id, sizeof id))
        return false;
    const int begun = l->nccl.open(&l->comm, gr_group_size(l->group), id, rank, &config);
    return wait_for(l, begun, "communicator", why, size);
}

bool gr__nccl_link(void *stream, const char *gpu, gr_group *g, gr_link **link, char *why, size_t size)
{
    offer own = {0}, all[GR_MAX_RANKS];
    nccl_link *l = open_library();
    own.has = l != NULL;
    memcpy(own.uuid, gpu, UUID_BYTES);
    *link = NULL;
    const bool told = gr_group_gather(g, &own, sizeof own, all);
    if (!told || !all_can(all, gr_group_size(g))) {
        if (l)
            nccl_close(&l->link);
        return told;
    }
    l->link = (gr_link){nccl_exchange, nccl_check, nccl_abort, nccl_close};
    l->group = g;
    l->stream = stream;
    *link = &l->link; /* also where it does not open: whoever asked closes it */
    return open_communicator(l, why, size);
}
