/*
 * tally.c - reference: total[0] += W loss, total[1+i] += counts[i]; W the weight of the update, 1 where none is set.
 * With finite total[1+k] += W, and a loss that is not finite adds nothing to either.
 */
#include "kernels/ref/ref.h"

/* sum[2] += v: the sum and what rounding took from it. */
static void gain(real *sum, wide v)
{
    const wide exact = (wide)sum[0] + (wide)sum[1] + v;
    sum[0] = (real)exact;
    sum[1] = (real)(exact - (wide)sum[0]);
}

void GR_REF(tally_forward)(const gr_call *call)
{
    const double inv = call->exec->state->inv_weight;
    real *total = reals(call->in[0]);        /* [1+k,2] */
    const real *loss = reals(call->in[1]);   /* one */
    const real *counts = reals(call->in[2]); /* [k] */
    const gr_tally_args *args = call->options;
    const int64_t k = call->in[2]->count;
    const bool lost = args->finite && !isfinite(loss[0]);
    const wide weight = lost ? 0 : inv > 0 ? 1 / inv : 1;
    gain(total, lost ? 0 : inv > 0 ? (wide)loss[0] / inv : (wide)loss[0]);
    for (int64_t i = 0; i < k; i++)
        gain(total + 2 * (i + 1), (wide)counts[i]);
    if (args->finite)
        gain(total + 2 * (k + 1), weight);
}
