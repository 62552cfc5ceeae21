/* sampler.c - see sampler.h. */
#include "data/loading/sampler.h"

#include <stdlib.h>

#include "core/philox.h"
#include "data/loading/shards.h"

bool gr__sampler_open(gr_sampler *s, const gr_dataset *set, const gr_loader_options *options)
{
    *s = (gr_sampler){.set = set,
                      .batch = options->batch,
                      .shuffled = options->order == GR_SHUFFLED,
                      .last = options->last,
                      .shards = options->shards,
                      .rank = options->rank,
                      .ranks = options->ranks,
                      .first = options->epoch,
                      .skip = options->skip,
                      .epoch = options->epoch - 1};
    s->order = gr__host_alloc(set->ctx, set->n, sizeof *s->order, "the order of the samples");
    return s->order;
}

void gr__sampler_close(gr_sampler *s)
{
    free(s->order);
}

int64_t gr__sampler_batches(const gr_sampler *s)
{
    return s->set->n / s->batch + (s->set->n % s->batch && s->last != GR_DROP);
}

/* Epoch e, counted from 0, has the order of (seed, e) whatever came before. */
static void begin_epoch(gr_sampler *s)
{
    s->epoch++;
    s->position = s->epoch != s->first ? 0 : s->skip < gr__sampler_batches(s) ? s->skip * s->batch : s->set->n;
    if (s->shuffled)
        gr__random_order(gr_seed(s->set->ctx), GR_RNG_SHUFFLE, (uint32_t)s->epoch, s->set->n, s->order);
    for (int64_t i = 0; i < s->set->n && !s->shuffled; i++)
        s->order[i] = i;
}

/* Samples of the next batch that this epoch has not yet seen; 0: the epoch is over. */
static int64_t fresh_samples(const gr_sampler *s)
{
    const int64_t left = s->set->n - s->position;
    return left >= s->batch ? s->batch : s->last == GR_DROP ? 0 : left;
}

void gr__sampler_next(gr_sampler *s, gr_host_batch *b)
{
    while (s->epoch < s->first || fresh_samples(s) == 0)
        begin_epoch(s);
    const int64_t fresh = fresh_samples(s), n = s->set->n;
    b->epoch = s->epoch;
    b->rows = s->last == GR_KEEP ? fresh : s->batch;
    b->samples = s->last == GR_PAD ? fresh : b->rows;
    b->begin = gr__shard_row(b->rows, s->shards, gr__first_shard(s->shards, s->ranks, s->rank));
    b->end = gr__shard_row(b->rows, s->shards, gr__first_shard(s->shards, s->ranks, s->rank + 1));
    b->bad = INT64_MAX;
    b->first = b->begin;
    for (int64_t i = 0; i < b->rows; i++)
        b->picks[i] = i < fresh || s->last == GR_WRAP ? s->order[(s->position + i) % n] : -1;
    s->position += fresh;
}
