/*
 * batch_norm_track.c - front of the running statistics' move towards those of a batch: next_mean, next_var, mean, var,
 * batch_mean and batch_var, [C] each.
 */
#include "kernels/ops/kernels.h"

static bool resolve(gr_build *b)
{
    gr_batch_norm_track_args *a = gr__op_args(b);
    a->momentum = a->momentum != 0 ? a->momentum : 0.1;
    if (!(a->momentum > 0 && a->momentum <= 1))
        return gr__op_fail(b, "momentum %g; it must lie in (0, 1]", a->momentum);
    return a->values >= 2 ||
           gr__op_fail(b, "%lld values per channel have no variance; there must be 2", (long long)a->values);
}

bool gr_batch_norm_track(const gr_statistics *next, const gr_statistics *running, const gr_statistics *batch,
                         const gr_batch_norm_track_args *args)
{
    gr_build call;
    gr_tensor *in[] = {next->mean, next->var, running->mean, running->var, batch->mean, batch->var};
    static const char *const names[] = {"next_mean", "next_var", "mean", "var", "batch_mean", "batch_var"};
    if (!gr__op_begin(&call, &gr__ops[GR_OP_batch_norm_track], in, args, sizeof *args) || !resolve(&call))
        return false;
    for (int i = 1; i < 6; i++)
        if (!gr__check_same_count(&call, i, names[i]))
            return false;
    return gr__op_run(&call);
}

double gr__batch_norm_track_flops(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return 7.0 * (double)call->in[0]->count;
}
