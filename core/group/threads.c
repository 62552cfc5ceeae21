/*
 * threads.c - a group of threads of one process. Each has a place where it lays down what it sends; the peer copies it
 * from there.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/group/group.h"
#include "core/group/power.h"

enum { NOBODY = -1 };

typedef struct {
    int peer;         /* for whom something lies here; NOBODY: for nobody */
    const void *data; /* that the peer copies */
    bool in_use;      /* the peer is copying */
    int waits_for;    /* a rank; itself: the devices of others, and not known whose; or NOBODY */
    bool left;
} place;

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int ranks, members; /* that have not closed yet */
    double patience;
    char error[512]; /* "": all is well */
    place *places;
} hall;

typedef struct {
    hall *hall;
    int rank;
} seat;

static void end(hall *h, const char *why)
{
    if (!*h->error)
        snprintf(h->error, sizeof h->error, "%s", why);
    pthread_cond_broadcast(&h->changed);
}

/*
 * Ends the group, as a rank has waited too long, and names who is to blame: the end of the chain of those that wait for
 * another, or the two at its end that wait for each other, which only devices do.
 */
static void blame(hall *h, int rank)
{
    char why[sizeof h->error];
    int before = rank, blamed = h->places[rank].waits_for, next = h->places[blamed].waits_for;
    for (int i = 0; i < h->ranks && blamed != before && next != NOBODY && next != before; i++) {
        before = blamed;
        blamed = next;
        next = h->places[blamed].waits_for;
    }
    if (blamed == before)
        snprintf(why, sizeof why, "the device of rank %d of %d has waited for those of others for %g s", blamed,
                 h->ranks, h->patience);
    else if (next == before)
        snprintf(why, sizeof why, "ranks %d and %d of %d have waited for each other for %g s",
                 next < blamed ? next : blamed, next < blamed ? blamed : next, h->ranks, h->patience);
    else
        snprintf(why, sizeof why, "rank %d of %d has not been heard of for %g s", blamed, h->ranks, h->patience);
    end(h, why);
}

static struct timespec moment(double seconds_from_now)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double at = (double)t.tv_nsec * 1e-9 + seconds_from_now;
    const time_t whole = (time_t)at;
    return (struct timespec){t.tv_sec + whole, (long)((at - (double)whole) * 1e9)};
}

typedef bool (*condition)(const hall *h, int rank, int peer);

/* The peer has laid something down for this rank. */
static bool is_there(const hall *h, int rank, int peer)
{
    return h->places[peer].peer == rank;
}

/* The peer has copied what this rank had laid down. */
static bool is_taken(const hall *h, int rank, int peer)
{
    (void)peer;
    return h->places[rank].peer == NOBODY;
}

/* Waits, the mutex being held. False: the group has ended. */
static bool wait_until(hall *h, condition holds, int rank, int peer)
{
    const struct timespec until = moment(h->patience);
    char why[sizeof h->error];
    h->places[rank].waits_for = peer;
    while (!*h->error && !holds(h, rank, peer)) {
        if (h->places[peer].left) {
            snprintf(why, sizeof why, "rank %d of %d has left while rank %d was waiting for it", peer, h->ranks, rank);
            end(h, why);
        } else if (pthread_cond_timedwait(&h->changed, &h->mutex, &until) == ETIMEDOUT && !holds(h, rank, peer)) {
            blame(h, rank);
        }
    }
    h->places[rank].waits_for = NOBODY;
    return !*h->error;
}

static bool thread_exchange(void *user, int peer, const void *send, size_t send_bytes, void *receive,
                            size_t receive_bytes, char *why, size_t size)
{
    const seat *s = user;
    hall *h = s->hall;
    (void)send_bytes; /* the peer knows what it receives */
    pthread_mutex_lock(&h->mutex);
    h->places[s->rank].data = send;
    h->places[s->rank].peer = peer;
    pthread_cond_broadcast(&h->changed);
    bool good = wait_until(h, is_there, s->rank, peer);
    if (good) {
        const void *data = h->places[peer].data;
        h->places[peer].in_use = true;
        pthread_mutex_unlock(&h->mutex);
        if (receive_bytes > 0)
            memcpy(receive, data, receive_bytes);
        pthread_mutex_lock(&h->mutex);
        h->places[peer].in_use = false;
        h->places[peer].peer = NOBODY;
        pthread_cond_broadcast(&h->changed);
        good = wait_until(h, is_taken, s->rank, peer);
    }
    while (h->places[s->rank].in_use) /* what lies there is the caller's again when this returns */
        pthread_cond_wait(&h->changed, &h->mutex);
    if (!good)
        snprintf(why, size, "%s", h->error);
    pthread_mutex_unlock(&h->mutex);
    return good;
}

static void thread_fail(void *user, const char *why)
{
    const seat *s = user;
    pthread_mutex_lock(&s->hall->mutex);
    end(s->hall, why);
    pthread_mutex_unlock(&s->hall->mutex);
}

static bool thread_look(void *user, int peer, double seconds, char *why, size_t size)
{
    const seat *s = user;
    hall *h = s->hall;
    pthread_mutex_lock(&h->mutex);
    h->places[s->rank].waits_for = peer;
    if (!*h->error && peer != NOBODY && seconds > h->patience)
        blame(h, s->rank);
    const bool well = !*h->error;
    if (!well)
        snprintf(why, size, "%s", h->error);
    pthread_mutex_unlock(&h->mutex);
    return well;
}

static void free_hall(hall *h)
{
    pthread_cond_destroy(&h->changed);
    pthread_mutex_destroy(&h->mutex);
    free(h->places);
    free(h);
}

static void thread_close(void *user)
{
    seat *s = user;
    hall *h = s->hall;
    pthread_mutex_lock(&h->mutex);
    h->places[s->rank].left = true;
    const bool last = --h->members == 0;
    pthread_cond_broadcast(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    free(s);
    if (last)
        free_hall(h);
}

static hall *hall_new(int ranks, double patience)
{
    hall *h = calloc(1, sizeof *h);
    place *places = calloc((size_t)ranks, sizeof *places);
    if (!h || !places) {
        free(h);
        free(places);
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    *h = (hall){.ranks = ranks, .patience = patience > 0 ? patience : 10, .places = places};
    pthread_mutex_init(&h->mutex, NULL);
    pthread_cond_init(&h->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (int i = 0; i < ranks; i++)
        places[i] = (place){.peer = NOBODY, .waits_for = NOBODY};
    return h;
}

bool gr_group_threads(int ranks, double patience, gr_group *members[])
{
    const gr_carrier carrier = {thread_exchange, thread_fail, thread_close, thread_look, patience, 0};
    hall *h = gr__is_power_of_two(ranks) && ranks <= GR_MAX_RANKS ? hall_new(ranks, patience) : NULL;
    for (int i = 0; h && i < ranks; i++) {
        seat *s = malloc(sizeof *s);
        members[i] = s ? gr_group_open(i, ranks, &carrier, s) : NULL;
        if (!members[i]) {
            free(s);
            if (i == 0)
                free_hall(h);
            while (i-- > 0) /* the last one frees the hall */
                gr_group_close(members[i]);
            return false;
        }
        *s = (seat){h, i};
        h->members++;
    }
    return h;
}
