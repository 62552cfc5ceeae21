/* buckets.c - see buckets.h. */
#include "core/group/buckets.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/float_mode.h"
#include "core/group/part.h"

enum { FINAL = -1 };

struct gr_buckets {
    gr_group *group;
    gr_slab *slab;
    int64_t *cuts; /* [n + 1] bucket k: elements cuts[k + 1] to cuts[k] - 1 */
    int n;
    int *uses; /* [segments] in the tape that are still to come; FINAL: nothing more is added to its gradient */
    int low;   /* all segments from this one on are final ... */
    int64_t final_from; /* ... and so are all elements from this one on */
    gr_backward_hook hook;

    pthread_t thread;
    bool started;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int ready, done; /* buckets; ready is written by the rank's own thread alone, all below under the mutex */
    bool good, stop;
};

/* --- the cuts ----------------------------------------------------------------------------------------------------- */

static void cut(gr_buckets *b)
{
    const int64_t least = gr__group_bucket_bytes(b->group) / (int64_t)gr_type_size(b->slab->gradients->type);
    b->n = 0;
    b->cuts[0] = b->slab->gradients->count;
    for (int i = b->slab->n - 1; i > 0; i--) {
        const int64_t at = b->slab->segments[i].grad_offset;
        if (at > 0 && b->cuts[b->n] - at >= least)
            b->cuts[++b->n] = at;
    }
    b->cuts[++b->n] = 0;
}

static int64_t largest(const gr_buckets *b)
{
    int64_t most = 0;
    for (int k = 0; k < b->n; k++)
        most = b->cuts[k] - b->cuts[k + 1] > most ? b->cuts[k] - b->cuts[k + 1] : most;
    return most;
}

/* --- the thread --------------------------------------------------------------------------------------------------- */

static void *sum_buckets(void *user)
{
    gr_buckets *b = user;
    if (b->slab->ctx->device->pool)
        gr__float_mode_begin(); /* as the device's kernels add */
    pthread_mutex_lock(&b->mutex);
    for (;;) {
        while (!b->stop && (!b->good || b->done == b->ready))
            pthread_cond_wait(&b->changed, &b->mutex);
        if (b->stop)
            break;
        const int64_t lo = b->cuts[b->done + 1], hi = b->cuts[b->done];
        pthread_mutex_unlock(&b->mutex);
        const bool good = gr__group_sum_part(b->group, b->slab->gradients, lo, hi);
        pthread_mutex_lock(&b->mutex);
        b->good = good;
        b->done += good;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->mutex);
    return NULL;
}

static void hand_over(gr_buckets *b, int ready)
{
    pthread_mutex_lock(&b->mutex);
    b->ready = ready;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
}

/* Until all that was handed over is summed, or cannot be. */
static bool wait_for_all(gr_buckets *b)
{
    pthread_mutex_lock(&b->mutex);
    while (b->good && b->done < b->ready)
        pthread_cond_wait(&b->changed, &b->mutex);
    const bool good = b->good;
    pthread_mutex_unlock(&b->mutex);
    return good;
}

/* --- a pass ------------------------------------------------------------------------------------------------------- */

/* More are final: buckets that lie behind all that is not are ready. */
static void look_for_ready(gr_buckets *b)
{
    const gr_segment *segments = b->slab->segments;
    int ready = b->ready;
    for (; b->low > 0 && (b->uses[b->low - 1] == FINAL || segments[b->low - 1].grad_offset < 0); b->low--)
        if (segments[b->low - 1].grad_offset >= 0)
            b->final_from = segments[b->low - 1].grad_offset;
    while (ready < b->n && b->cuts[ready + 1] >= b->final_from)
        ready++;
    if (ready > b->ready)
        hand_over(b, ready);
}

static void count_uses(void *user, const gr_tensor *parameter, int change)
{
    gr_buckets *b = user;
    if (parameter->slab != b->slab)
        return;
    int *uses = &b->uses[parameter->segment];
    *uses += change;
    if (*uses == 0) {
        *uses = FINAL;
        look_for_ready(b);
    }
}

void gr__buckets_begin(gr_buckets *b)
{
    pthread_mutex_lock(&b->mutex);
    cut(b);
    memset(b->uses, 0, (size_t)b->slab->n * sizeof *b->uses);
    b->low = b->slab->n;
    b->final_from = b->cuts[0];
    b->ready = b->done = 0;
    pthread_mutex_unlock(&b->mutex);
}

const gr_backward_hook *gr__buckets_watch(gr_buckets *b)
{
    return &b->hook;
}

bool gr__buckets_finish(gr_buckets *b)
{
    hand_over(b, b->n);
    return wait_for_all(b) || gr__fail(b->slab->ctx, GR_DEVICE_FAULT, "%s", gr_group_error(b->group));
}

void gr__buckets_rest(gr_buckets *b)
{
    if (b)
        wait_for_all(b);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static bool start(gr_buckets *b)
{
    b->started = pthread_create(&b->thread, NULL, sum_buckets, b) == 0;
    return b->started || gr__fail(b->slab->ctx, GR_NO_MEMORY, "the system gives no thread for sums over ranks");
}

gr_buckets *gr__buckets_open(gr_group *g, gr_slab *slab)
{
    gr_context *ctx = slab->ctx;
    gr_buckets *b = gr__calloc(ctx, 1, sizeof *b);
    if (!b)
        return NULL;
    *b = (gr_buckets){.group = g, .slab = slab, .hook = {.user = b, .uses = count_uses}, .good = true};
    pthread_mutex_init(&b->mutex, NULL);
    pthread_cond_init(&b->changed, NULL);
    b->cuts = gr__calloc(ctx, (size_t)slab->n + 1, sizeof *b->cuts);
    b->uses = gr__calloc(ctx, (size_t)slab->n, sizeof *b->uses);
    if (b->cuts && b->uses) {
        gr__buckets_begin(b);
        if (gr__group_room(g, ctx, largest(b)) && start(b))
            return b;
    }
    gr__buckets_close(b);
    return NULL;
}

void gr__buckets_close(gr_buckets *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&b->mutex);
    b->stop = true;
    pthread_cond_broadcast(&b->changed);
    pthread_mutex_unlock(&b->mutex);
    if (b->started)
        pthread_join(b->thread, NULL);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->mutex);
    free(b->cuts);
    free(b->uses);
    free(b);
}
