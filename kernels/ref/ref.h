/*
 * ref.h - the reference kernels: the formulas of a textbook in plain loops. Every file here is compiled twice, with
 * GR_REAL=double (the oracle) and GR_REAL=float.
 *
 * Sums run in the order of the loops and in double in both builds: the float build differs from the oracle by the
 * rounding of what it reads and stores alone.
 */
#ifndef GRADUS_REF_H
#define GRADUS_REF_H

#include <math.h>

#include "kernels/ops/kernels.h"

typedef GR_REAL real; /* type of tensors */
typedef double wide;  /* type of sums */

#define GR_REF_JOIN(name, op) gr__ref_##name##_##op
#define GR_REF_EXPAND(name, op) GR_REF_JOIN(name, op)
#define GR_REF(op) GR_REF_EXPAND(GR_REAL_NAME, op) /* GR_REF(relu_forward): gr__ref_f64_relu_forward */

/* What a file here can define, by operation: a function of another name is a compiler's error. */
#define GR_OP(name, kind, inputs, outputs, formula) \
    void GR_REF(name##_forward)(const gr_call *), GR_REF(name##_backward)(const gr_call *);
#include "kernels/ops/ops.def"
#undef GR_OP

/* Elements of a tensor; NULL for an absent one. */
static inline real *reals(const gr_tensor *t)
{
    return t ? (real *)t->data : NULL;
}

/* Writes v into d_in[slot][i], or adds it, as the call wants. */
static inline void give(const gr_call *call, int slot, int64_t i, wide v)
{
    real *d = (real *)call->d_in[slot]->data;
    d[i] = (real)(call->accumulate >> slot & 1 ? (wide)d[i] + v : v);
}

/*
 * Backward of a window, along one axis: the output row p whose tap r reads input row h, p*stride + r - pad = h.
 * -1: there is none.
 */
static inline int64_t output_of(int64_t h, int64_t r, int64_t stride, int64_t pad, int64_t positions)
{
    int64_t at = h + pad - r; /* p*stride */
    return at < 0 || at % stride || at / stride >= positions ? -1 : at / stride;
}

/* max(0, v), where NaN stays NaN. */
static inline wide relu(wide v)
{
    return v < 0 ? 0 : v;
}

/* Weight of sample n in the loss of the whole update. */
static inline wide sample_weight(const gr_call *call, int64_t n)
{
    const real *weight = reals(call->in[2]);
    double inv = call->exec->state->inv_weight;
    return (weight ? (wide)weight[n] : 1) * (inv > 0 ? inv : 1.0 / (double)call->in[0]->shape[0]);
}

#endif
