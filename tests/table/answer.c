/* answer.c - rows through fronts, tape and engine. */
#include "tests/table/answer.h"

#include <stdlib.h>

#include "core/context.h"
#include "tests/table/draw.h"

/* The result as one row, on the tape: flatten's node with another shape. */
static gr_tensor *as_row(gr_tensor *t)
{
    gr_build b;
    if (!gr__begin(&b, flatten, NULL, t))
        return NULL;
    return gr__op_run_alias(&b, 2, (int64_t[]){1, t->count});
}

gr_tensor *answer_dot(gr_tensor *result, const double *weights)
{
    if (!result)
        return NULL;
    gr_tensor *w = gr_tensor_new(result->ctx, result->type, 2, (int64_t[]){result->count, 1});
    return w && front_fill(w, weights) ? gr_dense(as_row(result), w, NULL, NULL) : NULL;
}

static bool differentiate(const row *r, gr_tensor *result, gr_tensor *const *in, answer *a)
{
    double *dy = calloc((size_t)gr_count(result) + 1, sizeof *dy);
    draw_stream(r, DRAW_DY, gr_count(result), dy);
    bool good = gr_backward(answer_dot(result, dy));
    free(dy);
    for (int i = 0; i < GR_MAX_IN && good; i++)
        if (in[i] && gr_grad(in[i]))
            a->value[trial_d_in(i)] = front_values(gr_grad(in[i]));
    return good;
}

static bool update(gr_context *ctx, const row *r, answer_fn compute, gr_tensor *const *in, gr_tensor **result,
                   gr_tensor *db)
{
    for (int i = 0; i < r->updates; i++) {
        ctx->state.update = r->state.update + i;
        if (!gr__state_write(ctx) || !(*result = compute(r, in, db)))
            return false;
    }
    return true;
}

bool answer_get(gr_context *ctx, const row *r, answer_fn compute, answer *a)
{
    *a = (answer){0};
    gr_tensor *in[GR_MAX_IN] = {0}, *result = NULL, *db;
    if (!front_inputs(ctx, r, in) || !front_state(ctx, r))
        return false;
    db = front_db(ctx, r);
    if (!update(ctx, r, compute, in, &result, db))
        return false;
    if (result != in[0])
        a->value[trial_out(0)] = front_values(result);
    if (db)
        a->value[trial_out(1)] = front_values(db);
    for (int i = 0; i < r->op->n_in; i++)
        if (in[i] && (r->op->in[i].flags & GR_SLOT_CHANGED))
            a->value[trial_in(i)] = front_values(in[i]);
    return r->op->kind != GR_DIFF || differentiate(r, result, in, a);
}

void answer_free(answer *a)
{
    for (int i = 0; i < TRIAL_SLOTS; i++)
        free(a->value[i]);
}
