/* shard_sum.c - see shard_sum.h. */
#include "optim/training/shard_sum.h"

#include <stdlib.h>
#include <string.h>

#include "core/group/part.h"
#include "nn/module.h"

enum { SCORES, GRADIENTS, STATISTICS };
enum { LOSS, CORRECT, N_SCORES };

static const int64_t ONE = 1;

static gr_parameters *statistics(const gr_shard_sum *s)
{
    return s->opt->net->parameters->statistics;
}

/* Whether forward passes move running statistics: some are not frozen. */
static bool tracks(const gr_shard_sum *s)
{
    const gr_parameters *list = statistics(s);
    for (int i = 0; i < list->n; i++)
        if (!list->slab->segments[i].frozen)
            return true;
    return false;
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

static bool add_summand(gr_shard_sum *s, int which, gr_slab *slab, gr_tensor *now)
{
    gr_shard_summand *a = &s->summand[which];
    *a = (gr_shard_summand){.slab = slab, .now = now};
    for (int i = 0; now && i < s->levels; i++)
        a->level[i] = gr__tensor_persistent(s->ctx, now->type, now->ndim, now->shape);
    return now && gr_ok(s->ctx);
}

/* A place for every gradient, also where an earlier update had fused one away. */
static bool make_gradients(gr_slab *slab)
{
    for (int i = 0; i < slab->n; i++)
        slab->segments[i].no_gradient = slab->segments[i].frozen;
    return gr__slab_make_gradients(slab);
}

/* Where sums over ranks may begin within the backward pass. False: recorded. */
static bool make_buckets(gr_shard_sum *s, gr_slab *slab)
{
    const gr_device *d = s->ctx->device;
    if (gr__group_bucket_bytes(s->group) == 0 || !d->on_host || d->queue || s->ctx->options.plan_only)
        return true;
    s->buckets = gr__buckets_open(s->group, slab);
    return s->buckets;
}

bool gr__shard_sum_prepare(gr_shard_sum *s, gr_optimizer *opt)
{
    gr_slab *slab = opt->net->parameters->slab;
    if (s->ctx)
        return true;
    s->ctx = opt->ctx;
    s->opt = opt;
    for (s->levels = 0; 1 << s->levels < s->end - s->first;)
        s->levels++;
    gr_slab *next = statistics(s)->next;
    return make_gradients(slab) && make_buckets(s, slab) &&
           add_summand(s, SCORES, NULL, gr_tensor_new(s->ctx, gr_real(s->ctx), 1, (int64_t[]){N_SCORES})) &&
           add_summand(s, GRADIENTS, slab, slab->gradients) &&
           (!tracks(s) || add_summand(s, STATISTICS, next, next->values));
}

void gr__shard_sum_close(gr_shard_sum *s)
{
    gr__buckets_close(s->buckets);
    for (int i = 0; i < GR__SHARD_SUMMANDS; i++)
        for (int j = 0; j < s->levels; j++)
            if (s->summand[i].level[j])
                gr__disown(s->ctx, s->summand[i].level[j]);
    if (s->summand[SCORES].now)
        gr__disown(s->ctx, s->summand[SCORES].now);
    free(s->written);
    *s = (gr_shard_sum){0};
}

static void exchange(gr_shard_summand *a, int level)
{
    void *data = a->now->data;
    a->now->data = a->level[level]->data;
    a->level[level]->data = data;
    if (a->slab)
        gr__slab_point(a->slab);
}

/* --- the tree ----------------------------------------------------------------------------------------------------- */

/* Which of the summands this pass has: statistics move in the first pass alone. */
static bool takes_part(const gr_shard_sum *s, int which)
{
    return s->summand[which].now && (which != STATISTICS || !statistics(s)->frozen);
}

/* The sum that waits in a level and the one at hand, which may be of no shard at all. False: recorded. */
static bool meet(gr_shard_sum *s, int level, bool *there)
{
    bool good = true;
    for (int i = 0; good && i < GR__SHARD_SUMMANDS && s->waits[level]; i++) {
        if (!takes_part(s, i))
            continue;
        if (*there)
            good = gr__add_to(s->summand[i].now, s->summand[i].level[level]);
        else
            exchange(&s->summand[i], level);
    }
    *there |= s->waits[level];
    return good;
}

/* One more leaf; there: it has samples. */
static bool carry(gr_shard_sum *s, bool there)
{
    const int place = s->put++;
    int level = 0;
    bool good = true;
    for (; good && place >> level & 1; level++)
        good = meet(s, level, &there);
    if (level == s->levels) /* the rank's whole sum */
        return good;
    for (int i = 0; i < GR__SHARD_SUMMANDS && there; i++)
        if (takes_part(s, i))
            exchange(&s->summand[i], level);
    s->waits[level] = there;
    return good;
}

/* --- a pass ------------------------------------------------------------------------------------------------------- */

void gr__shard_sum_begin(gr_shard_sum *s)
{
    memset(s->waits, 0, sizeof s->waits);
    s->put = 0;
    s->begun = false;
    if (s->buckets)
        gr__buckets_begin(s->buckets);
    s->updates = statistics(s)->updates;
    s->draws = s->ctx->state.draws;
}

/* Random numbers and statistics count as one rank with all shards would: that of a piece is told by its place. */
static bool count_to(gr_shard_sum *s, int64_t rows, int64_t shards)
{
    if (s->ctx->planning) /* a dry run draws nothing */
        return true;
    s->ctx->state.draws = s->draws + rows;
    statistics(s)->updates = s->updates + shards;
    return gr__state_write(s->ctx);
}

bool gr__shard_sum_piece(gr_shard_sum *s, const gr_batch *piece)
{
    const double zeros[N_SCORES] = {0}; /* of either type */
    const bool first = !s->begun;
    s->begun = true;
    if (!count_to(s, piece->row, piece->shard + 1)) /* so the next statistics begin anew with the running ones */
        return false;
    if (first)
        gr__slab_clear_gradients(s->opt->net->parameters->slab);
    return !first || s->ctx->planning || gr_upload(s->summand[SCORES].now, zeros);
}

const gr_backward_hook *gr__shard_sum_hook(gr_shard_sum *s, const gr_batch *piece)
{
    const bool only = s->end - s->first == 1 && piece->shard_last && !s->ctx->meeting && !s->ctx->planning;
    return only && s->buckets ? gr__buckets_watch(s->buckets) : NULL;
}

void gr__shard_sum_rest(gr_shard_sum *s)
{
    gr__buckets_rest(s->buckets);
}

static gr_tensor *score(gr_shard_sum *s, int64_t which)
{
    return gr__slab_piece(s->summand[SCORES].now, which, 1, &ONE);
}

gr_tensor *gr__shard_sum_loss(gr_shard_sum *s)
{
    return score(s, LOSS);
}

gr_tensor *gr__shard_sum_correct(gr_shard_sum *s)
{
    return score(s, CORRECT);
}

bool gr__shard_sum_score(gr_shard_sum *s, gr_tensor *loss, gr_tensor *correct)
{
    gr_tensor *l = score(s, LOSS), *c = score(s, CORRECT);
    return l && c && correct && gr__add_to(l, loss) && gr__add_to(c, correct);
}

/* Which parameters have a gradient: as many as in the first shard of all. False: recorded. */
static bool note_gradients(gr_shard_sum *s)
{
    const gr_slab *slab = s->opt->net->parameters->slab;
    if (s->written)
        return true;
    s->written = gr__calloc(s->ctx, (size_t)slab->n, sizeof *s->written);
    for (int i = 0; s->written && i < slab->n; i++)
        s->written[i] = slab->segments[i].value->grad_written;
    return s->written;
}

/* A gradient that one shard has and another has not would be added to what is left in the other's memory. */
static bool same_gradients(const gr_shard_sum *s)
{
    const gr_parameters *list = s->opt->net->parameters;
    for (int i = 0; i < list->n; i++)
        if (list->slab->segments[i].value->grad_written != s->written[i])
            return gr__fail(s->ctx, GR_USAGE,
                            "the loss of one shard depends on %s and that of another does not; train with one shard",
                            list->plans[i].name);
    return true;
}

bool gr__shard_sum_put(gr_shard_sum *s)
{
    s->begun = false;
    return note_gradients(s) && same_gradients(s) && carry(s, true);
}

/* All of it -0: x + -0 is x, to the bit, which x + 0 is not where x is -0. False: recorded. */
static bool fill_with_nothing(gr_shard_sum *s, gr_tensor *t)
{
    void *host = gr__calloc(s->ctx, (size_t)t->count, gr_type_size(t->type));
    for (int64_t i = 0; host && i < t->count; i++) {
        if (t->type == GR_F64)
            ((double *)host)[i] = -0.0;
        else
            ((float *)host)[i] = -0.0f;
    }
    const bool filled = host && gr_upload(t, host);
    free(host);
    return filled;
}

static bool sum_one(gr_shard_sum *s, int which, bool there)
{
    gr_tensor *now = s->summand[which].now;
    if (!takes_part(s, which))
        return true;
    if (!there && !fill_with_nothing(s, now))
        return false;
    return which == GRADIENTS && s->buckets ? gr__buckets_finish(s->buckets) : gr_group_sum(s->group, now);
}

/*
 * The sums of this rank's shards, if there are any, become those of all ranks': gradients first, as some of them may
 * have become so within the pass. False: recorded.
 */
static bool sum_over_ranks(gr_shard_sum *s, bool there)
{
    return sum_one(s, GRADIENTS, there) && sum_one(s, SCORES, there) && sum_one(s, STATISTICS, there);
}

/* The next running statistics become the mean over so many shards. */
static bool mean_statistics(gr_shard_sum *s, int shards)
{
    gr_tensor *sum = s->summand[STATISTICS].now;
    return shards == 1 || gr_batch_norm_commit(sum, gr_scale(sum, 1 / (double)shards));
}

bool gr__shard_sum_finish(gr_shard_sum *s, const gr_batch *piece, int64_t batch)
{
    gr_slab *slab = s->opt->net->parameters->slab;
    bool good = true;
    while (good && s->put < s->end - s->first)
        good = carry(s, false);
    if (good && gr_group_size(s->group) > 1 && !s->ctx->planning)
        good = sum_over_ranks(s, piece->shards > s->first);
    for (int i = 0; i < slab->n; i++)
        slab->segments[i].value->grad_written = s->written[i];
    if (!good || !count_to(s, batch, s->shards) || !takes_part(s, STATISTICS))
        return good && gr_ok(s->ctx);
    statistics(s)->pending = true;
    return mean_statistics(s, piece->shards);
}
