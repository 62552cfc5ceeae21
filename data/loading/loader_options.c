/* loader_options.c - see loader_options.h. */
#include "data/loading/loader_options.h"

#include "core/group/power.h"
#include "data/dataset.h"
#include "data/loading/shards.h"

gr_loader_options gr__loader_resolve(const gr_loader_options *asked)
{
    gr_loader_options o = *asked;
    o.shards = o.shards ? o.shards : 1;
    o.ranks = o.ranks ? o.ranks : 1;
    if (o.shards < 1)
        return o;
    const int64_t largest = gr__shard_row(o.batch, o.shards, 1);
    if (o.micro_batch == 0 || o.micro_batch > largest)
        o.micro_batch = largest;
    return o;
}

bool gr__loader_check(const gr_dataset *set, const gr_loader_options *o)
{
    if (o->batch < 1)
        return gr__fail(set->ctx, GR_USAGE, "a batch of %lld samples cannot be made; the batch size must be at least 1",
                        (long long)o->batch);
    if ((unsigned)o->last > GR_WRAP)
        return gr__fail(set->ctx, GR_USAGE, "policy number %d for the last batch is unknown; keep, drop, pad or wrap",
                        (int)o->last);
    if ((unsigned)o->order > GR_IN_ORDER)
        return gr__fail(set->ctx, GR_USAGE, "order number %d is unknown; there are GR_SHUFFLED and GR_IN_ORDER",
                        (int)o->order);
    if (o->micro_batch < 0)
        return gr__fail(set->ctx, GR_USAGE, "a micro-batch of %lld samples cannot be made; it has at least 1",
                        (long long)o->micro_batch);
    if (o->workers < GR_NO_WORKERS || o->workers > GR_MAX_WORKERS || o->prefetch < 0 || o->prefetch > GR_MAX_PREFETCH)
        return gr__fail(set->ctx, GR_USAGE,
                        "a loader with %d workers and %d batches ahead; at most %d and %d, or 0 for the default",
                        o->workers, o->prefetch, GR_MAX_WORKERS, GR_MAX_PREFETCH);
    if (o->skip < 0 || o->epoch < 0)
        return gr__fail(set->ctx, GR_USAGE, "a loader from epoch %lld on without %lld batches; both are at least 0",
                        (long long)o->epoch, (long long)o->skip);
    if (!gr__is_power_of_two(o->shards) || o->shards > GR_MAX_SHARDS)
        return gr__fail(set->ctx, GR_USAGE, "a batch in %d shards; their number is a power of two, at most %d",
                        o->shards, GR_MAX_SHARDS);
    if (!gr__is_power_of_two(o->ranks) || o->ranks > o->shards || o->rank < 0 || o->rank >= o->ranks)
        return gr__fail(set->ctx, GR_USAGE,
                        "rank %d of %d with %d shards; the number of ranks is a power of two, at most that of shards",
                        o->rank, o->ranks, o->shards);
    if (o->batch > set->n && o->last != GR_PAD)
        return gr__fail(
            set->ctx, GR_USAGE,
            "batch size %lld is larger than the set of %lld samples; take at most %lld, or pad the last batch",
            (long long)o->batch, (long long)set->n, (long long)set->n);
    return true;
}
