/* ring.c - see ring.h. One lock, two conditions; whoever fills a piece holds no lock. */
#include "data/loading/ring.h"

#include <pthread.h>
#include <stdlib.h>

struct gr_ring {
    gr_ring_job job;
    pthread_mutex_t lock;
    pthread_cond_t not_full;  /* there is a piece to fill, or the end */
    pthread_cond_t not_empty; /* a slot has been filled */
    int64_t batch, piece;     /* the next piece that nobody has taken */
    int64_t consumed;         /* batches handed out; the last of them is still in use */
    int64_t *missing;         /* [slots] pieces that are not yet filled */
    bool stop;
    int n_threads;
    pthread_t *threads;
};

/* Whether batch may be filled: its slot holds nothing that the consumer still wants. */
static bool has_room(const gr_ring *r)
{
    return r->batch < r->consumed + r->job.slots - (r->consumed > 0);
}

/* Takes the next piece, preparing its slot where it is the first. The lock is held. */
static void next_piece(gr_ring *r, int *slot, int64_t *piece)
{
    *slot = (int)(r->batch % r->job.slots);
    *piece = r->piece++;
    if (*piece == 0) {
        r->missing[*slot] = r->job.pieces;
        r->job.prepare(r->job.user, *slot);
    }
    if (r->piece == r->job.pieces) {
        r->piece = 0;
        r->batch++;
    }
}

static void *work(void *arg)
{
    gr_ring *r = arg;
    pthread_mutex_lock(&r->lock);
    while (!r->stop) {
        int slot;
        int64_t piece;
        if (!has_room(r)) {
            pthread_cond_wait(&r->not_full, &r->lock);
            continue;
        }
        next_piece(r, &slot, &piece);
        pthread_mutex_unlock(&r->lock);
        r->job.fill(r->job.user, slot, piece);
        pthread_mutex_lock(&r->lock);
        if (--r->missing[slot] == 0)
            pthread_cond_signal(&r->not_empty);
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

gr_ring *gr__ring_open(const gr_ring_job *job)
{
    gr_ring *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (gr_ring){.job = *job,
                   .missing = calloc((size_t)job->slots, sizeof *r->missing),
                   .threads = calloc((size_t)job->workers, sizeof *r->threads)};
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->not_full, NULL);
    pthread_cond_init(&r->not_empty, NULL);
    while (r->missing && r->threads && r->n_threads < job->workers &&
           pthread_create(&r->threads[r->n_threads], NULL, work, r) == 0)
        r->n_threads++;
    if (r->n_threads == job->workers)
        return r;
    gr__ring_close(r);
    return NULL;
}

/* Whether batch t has all its pieces. */
static bool is_full(const gr_ring *r, int64_t t)
{
    return t < r->batch && r->missing[t % r->job.slots] == 0;
}

int gr__ring_next(gr_ring *r)
{
    pthread_mutex_lock(&r->lock);
    const int64_t t = r->consumed++;
    pthread_cond_broadcast(&r->not_full);
    while (!is_full(r, t))
        pthread_cond_wait(&r->not_empty, &r->lock);
    pthread_mutex_unlock(&r->lock);
    return (int)(t % r->job.slots);
}

void gr__ring_close(gr_ring *r)
{
    if (!r)
        return;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_broadcast(&r->not_full);
    pthread_mutex_unlock(&r->lock);
    for (int i = 0; i < r->n_threads; i++)
        pthread_join(r->threads[i], NULL);
    pthread_cond_destroy(&r->not_empty);
    pthread_cond_destroy(&r->not_full);
    pthread_mutex_destroy(&r->lock);
    free(r->threads);
    free(r->missing);
    free(r);
}
