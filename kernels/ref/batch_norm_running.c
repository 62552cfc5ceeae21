/*
 * batch_norm_running.c - reference of the running statistics of batch normalisation.
 *
 *   batch_norm_track, from n values per channel; from: running at first, else next
 *     next_mean = from_mean + momentum (batch_mean - from_mean)
 *     next_var  = from_var + momentum (batch_var n/(n-1) - from_var)
 *
 *   batch_norm_commit
 *     running = next
 */
#include "kernels/ref/ref.h"

void GR_REF(batch_norm_track_forward)(const gr_call *call)
{
    const gr_batch_norm_track_args *args = call->options;
    const wide unbias = (wide)args->values / (wide)(args->values - 1);
    real *next_mean = reals(call->in[0]), *next_var = reals(call->in[1]); /* [C] each, the rest too */
    const real *from_mean = args->first ? reals(call->in[2]) : next_mean;
    const real *from_var = args->first ? reals(call->in[3]) : next_var;
    const real *batch_mean = reals(call->in[4]), *batch_var = reals(call->in[5]);
    for (int64_t c = 0; !call->exec->state->skip && c < call->in[0]->count; c++) {
        next_mean[c] = (real)((wide)from_mean[c] + args->momentum * ((wide)batch_mean[c] - (wide)from_mean[c]));
        next_var[c] = (real)((wide)from_var[c] + args->momentum * (unbias * (wide)batch_var[c] - (wide)from_var[c]));
    }
}

void GR_REF(batch_norm_commit_forward)(const gr_call *call)
{
    for (int64_t i = 0; !call->exec->state->skip && i < call->in[0]->count; i++)
        reals(call->in[0])[i] = reals(call->in[1])[i];
}
