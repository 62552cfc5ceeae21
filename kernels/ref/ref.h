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

#include "core/half.h"
#include "kernels/ops/hooks.h"

typedef GR_REAL real; /* type of tensors */
typedef double wide;  /* type of sums */

#define GR_REF_JOIN(name, op) gr__ref_##name##_##op
#define GR_REF_EXPAND(name, op) GR_REF_JOIN(name, op)
#define GR_REF(op) GR_REF_EXPAND(GR_REAL_NAME, op) /* GR_REF(relu_forward): gr__ref_f64_relu_forward */

/* Every operation's forward and, where it is DIFF, backward. */
#define GR_HOOK(name, hook) GR_DECLARE_##hook(GR_REF(name##_##hook))
#include "kernels/ops/passes.def"
#undef GR_HOOK

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
 * Sums of neighbouring channels run side by side, LINE of them, so that what they share is worked out once. Each has
 * the order that it would have alone.
 */
enum { LINE = 64 };

/* How many of the channels from first on. */
static inline int64_t line_length(int64_t channels, int64_t first)
{
    return channels - first < LINE ? channels - first : LINE;
}

/* sums[i] += d line[i] for n channels */
static inline void add_to_line(wide sums[LINE], wide d, const real *line, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        sums[i] += d * (wide)line[i];
}

/* Writes or adds sums[0 .. n) from d_in[slot][i] on. */
static inline void give_line(const gr_call *call, int slot, int64_t i, const wide sums[LINE], int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        give(call, slot, i + j, sums[j]);
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

/* sum_i x[i]^2 */
static inline wide sum_of_squares(const gr_tensor *x)
{
    wide sum = 0;
    for (int64_t i = 0; i < x->count; i++)
        sum += (wide)reals(x)[i] * (wide)reals(x)[i];
    return sum;
}

/* Element i of a tensor of floating-point numbers of any type. */
static inline double number_at(const gr_tensor *t, int64_t i)
{
    if (t->type == GR_F16)
        return gr__f16_value(((const uint16_t *)t->data)[i]);
    if (t->type == GR_BF16)
        return gr__bf16_value(((const uint16_t *)t->data)[i]);
    return (double)reals(t)[i];
}

#endif
