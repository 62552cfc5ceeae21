/* augmented.c - sets whose batches come augmented: views that carry a plan. */
#include <stdlib.h>
#include <string.h>

#include "data/augmentation/augment.h"

static bool check_double(const gr_dataset *set, const gr__plan *plan, const int64_t size[2])
{
    if (!plan->doubled || (size[0] == set->size[0] && size[1] == set->size[1]))
        return true;
    return gr__fail(
        set->ctx, GR_USAGE,
        "augmentation: double keeps the pictures of %lld x %lld beside those of %lld x %lld that the plan makes; end "
        "it with a crop or resize to %lldx%lld",
        (long long)set->size[0], (long long)set->size[1], (long long)size[0], (long long)size[1],
        (long long)set->size[0], (long long)set->size[1]);
}

/* Every sample of set, twice if the plan says so. NULL: recorded. */
static gr_dataset *view_of(gr_dataset *set, bool doubled)
{
    const int64_t n = doubled ? 2 * set->n : set->n;
    int64_t *picks = gr__host_alloc(set->ctx, n, sizeof *picks, "the samples of an augmented set");
    for (int64_t i = 0; picks && i < n; i++)
        picks[i] = i % set->n;
    gr_dataset *view = picks ? gr__dataset_subset(set, picks, n) : NULL;
    free(picks);
    return view;
}

static gr_dataset *with_plan(gr_dataset *set, const gr__plan *plan)
{
    char reason[GR__PLAN_REASON];
    int64_t size[2];
    if (!gr__plan_size(plan, set->size, size, reason)) {
        gr__fail(set->ctx, GR_USAGE, "augmentation: %s", reason);
        return NULL;
    }
    if (!check_double(set, plan, size))
        return NULL;
    gr_dataset *view = view_of(set, plan->doubled);
    gr__plan *copy = view ? gr__calloc(set->ctx, 1, sizeof *copy) : NULL;
    if (!copy || !gr__own(set->ctx, copy, free))
        return NULL;
    *copy = *plan;
    view->plan = copy;
    view->plain = plan->doubled ? set->n : 0;
    memcpy(view->batch_size, size, sizeof size);
    return view;
}

static gr_dataset *augmented(gr_dataset *set, const char *text, bool for_evaluation)
{
    gr__plan plan;
    if (!set || !gr_ok(set->ctx) || !gr_augmentation_check(set->ctx, text))
        return NULL;
    if (set->plan) {
        gr__fail(set->ctx, GR_USAGE, "augmentation: the set is augmented already; put all steps into one plan");
        return NULL;
    }
    char reason[GR__PLAN_REASON];
    gr__plan_parse(text, &plan, reason);
    if (for_evaluation)
        plan = gr__plan_still(&plan);
    return plan.n || plan.cutout || plan.doubled ? with_plan(set, &plan) : set;
}

bool gr_augmentation_check(gr_context *ctx, const char *plan)
{
    gr__plan parsed;
    char reason[GR__PLAN_REASON];
    if (!plan || gr__plan_parse(plan, &parsed, reason))
        return gr_ok(ctx);
    return gr__fail(ctx, GR_USAGE, "augmentation \"%s\": %s", plan, reason);
}

bool gr_augmentation_doubles(const char *plan)
{
    gr__plan parsed;
    char reason[GR__PLAN_REASON];
    return plan && gr__plan_parse(plan, &parsed, reason) && parsed.doubled;
}

gr_dataset *gr_augmented(gr_dataset *set, const char *plan)
{
    return augmented(set, plan ? plan : "", false);
}

gr_dataset *gr_augmented_for_evaluation(gr_dataset *set, const char *plan)
{
    return augmented(set, plan ? plan : "", true);
}

void gr__augment_sample(const gr_dataset *set, const gr__plan_key *key, int32_t map[GR_MAP])
{
    if (key->sample < set->plain)
        gr__plan_nothing(map);
    else
        gr__plan_draw(set->plan, key, set->size, map);
}

gr_tensor *gr__augment_batch(const gr_dataset *set, gr_tensor *x, gr_tensor *map)
{
    return gr_augment(x, map,
                      &(gr_augment_args){.normalise = set->normalise,
                                         .size = {(int)set->batch_size[0], (int)set->batch_size[1]},
                                         .filter = set->plan->filter,
                                         .fill = set->plan->fill});
}
