/*
 * elementwise.c - reference of the operations that make each number of the numbers in the same place.
 *
 * An operation of one number is two formulas and a line: y of x, dX of dY and of what the derivative is written in, y
 * or x.
 */
#include "kernels/ref/ref.h"

/* y[i] = f(x[i]) */
static void each_forward(const gr_call *call, wide (*f)(wide x))
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)f((wide)reals(call->in[0])[i]);
}

/* dX[i] = f(dY[i], of[i]); of: x or y */
static void each_backward(const gr_call *call, const gr_tensor *of, wide (*f)(wide dy, wide of))
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, f((wide)reals(call->d_out[0])[i], (wide)reals(of)[i]));
}

/* The operation name of the formulas name_y and name_dx; of: out[0] where name_dx is a function of y, in[0] of x. */
#define ELEMENTWISE(name, of)                         \
    void GR_REF(name##_forward)(const gr_call *call)  \
    {                                                 \
        each_forward(call, name##_y);                 \
    }                                                 \
    void GR_REF(name##_backward)(const gr_call *call) \
    {                                                 \
        each_backward(call, call->of, name##_dx);     \
    }

static wide relu_y(wide x)
{
    return relu(x);
}
static wide relu_dx(wide dy, wide y)
{
    return y <= 0 ? 0 : dy;
}
ELEMENTWISE(relu, out[0])

static wide sigmoid_y(wide x)
{
    return 1 / (1 + exp(-x));
}
static wide sigmoid_dx(wide dy, wide y)
{
    return dy * y * (1 - y);
}
ELEMENTWISE(sigmoid, out[0])

static wide tanh_y(wide x)
{
    return tanh(x);
}
static wide tanh_dx(wide dy, wide y)
{
    return dy * (1 - y) * (1 + y); /* 1 - y^2 as a product, which is exact near 1 */
}
ELEMENTWISE(tanh, out[0])

static wide exp_y(wide x)
{
    return exp(x);
}
static wide exp_dx(wide dy, wide y)
{
    return dy * y;
}
ELEMENTWISE(exp, out[0])

static wide log_y(wide x)
{
    return log(x);
}
static wide log_dx(wide dy, wide x)
{
    return dy / x;
}
ELEMENTWISE(log, in[0])

/* Phi(x), the normal distribution, by erfc: below 0 no 1 - erf loses digits. Its products with x are 0 where it is. */
static wide normal(wide x)
{
    return erfc(-x / sqrt(2)) / 2;
}
static wide gelu_y(wide x)
{
    const wide p = normal(x);
    return p != 0 ? x * p : 0;
}
static wide gelu_dx(wide dy, wide x)
{
    const wide density = exp(-x * x / 2) / sqrt(2 * acos(-1));
    return dy * (normal(x) + (density != 0 ? x * density : 0));
}
ELEMENTWISE(gelu, in[0])

/* y = x s, dX = dY (s + x s (1 - s)), s the sigmoid of x, 1 - s that of -x. Products with x are 0 where a factor is. */
static wide silu_y(wide x)
{
    const wide s = sigmoid_y(x);
    return s != 0 ? x * s : 0;
}
static wide silu_dx(wide dy, wide x)
{
    const wide rest = sigmoid_y(-x);
    return dy * (sigmoid_y(x) + (rest != 0 ? silu_y(x) * rest : 0));
}
ELEMENTWISE(silu, in[0])

/* y = factor x, dX = factor dY */
void GR_REF(scale_forward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)(args->factor * (wide)reals(call->in[0])[i]);
}

void GR_REF(scale_backward)(const gr_call *call)
{
    const gr_factor_args *args = call->options;
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, args->factor * (wide)reals(call->d_out[0])[i]);
}

/* y = a + b, max(0, a + b) if asked; da = db = dY [y > 0], or dY without the ReLU */
void GR_REF(add_forward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    const real *a = reals(call->in[0]), *b = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++) {
        const wide sum = (wide)a[i] + (wide)b[i];
        reals(call->out[0])[i] = (real)(args->relu ? relu(sum) : sum);
    }
}

void GR_REF(add_backward)(const gr_call *call)
{
    const gr_add_args *args = call->options;
    for (int slot = 0; slot < 2; slot++)
        for (int64_t i = 0; call->d_in[slot] && i < call->in[0]->count; i++)
            give(call, slot, i, args->relu && reals(call->out[0])[i] <= 0 ? 0 : (wide)reals(call->d_out[0])[i]);
}

/* y = a b; da = dY b, db = dY a */
void GR_REF(mul_forward)(const gr_call *call)
{
    const real *a = reals(call->in[0]), *b = reals(call->in[1]); /* [count] */
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = (real)((wide)a[i] * (wide)b[i]);
}

void GR_REF(mul_backward)(const gr_call *call)
{
    for (int slot = 0; slot < 2; slot++)
        for (int64_t i = 0; call->d_in[slot] && i < call->in[0]->count; i++)
            give(call, slot, i, (wide)reals(call->d_out[0])[i] * (wide)reals(call->in[1 - slot])[i]);
}

/* flatten and reshape: y = x, dX = dY, a copy. The engine avoids it by sharing storage wherever it can. */
static void copy_forward(const gr_call *call)
{
    for (int64_t i = 0; i < call->in[0]->count; i++)
        reals(call->out[0])[i] = reals(call->in[0])[i];
}

static void copy_backward(const gr_call *call)
{
    for (int64_t i = 0; call->d_in[0] && i < call->in[0]->count; i++)
        give(call, 0, i, (wide)reals(call->d_out[0])[i]);
}

void GR_REF(flatten_forward)(const gr_call *call)
{
    copy_forward(call);
}

void GR_REF(flatten_backward)(const gr_call *call)
{
    copy_backward(call);
}

void GR_REF(reshape_forward)(const gr_call *call)
{
    copy_forward(call);
}

void GR_REF(reshape_backward)(const gr_call *call)
{
    copy_backward(call);
}
