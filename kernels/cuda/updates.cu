/*
 * updates.cu - steps of optimizers over a whole slab of parameters p with gradients g.
 *
 *   sgd_step       p -= lr (g + decay p)
 *   momentum_step  g' = g + decay p (coupled decay)    v = mu v + g'    p -= lr v, with Nesterov's p -= lr (g' + mu v)
 *                  decoupled decay: g' = g, and p loses lr decay p as well
 *   adam_step      the formula is in adam.cuh
 *   lars_step      over one layer's weights: r = trust |p| / (|g| + decay |p| + eps), 1 where p or g is 0
 *                  v = mu v + r (g + decay p)     p -= lr v
 *   prox_step      p -= lr (g + gamma (p - anchor)); in the first step of an update anchor becomes p. A skipped update
 *                  goes back to anchor
 *   sam_climb      saved = p; p += rho g / (norm + 1e-12), also in an update that is skipped: sam_return undoes it
 *   sam_return     p = saved, also in an update that is skipped
 *   ema_step       average += share (p - average), share = 1 - min(decay, (t - 1) / (t + 8)), t applied updates
 *   lookahead_step slow += (1 - decay) (p - slow); p = slow, also in an update that is skipped
 *   nesterov_step  v = mu v + g; d = g + mu v, d in a skipped update as well
 *   unit_norm      x *= length / (norm + 1e-7)
 *   clip_norm      g *= min(1, limit / (norm + 1e-6)); a norm that is no number makes no number of g
 *
 * Launch    a thread for four elements side by side, blocks of 256. Before it, adam_step: one thread for the numbers
 *           that all elements share; lars_step: |p| and |g| as tensor_total.cuh cuts them, a launch each. lr, skip
 *           and norms are read from the device, so a captured graph stays valid when they change.
 * Halves    sgd_step, momentum_step, adam_step, lars_step and lookahead_step write a copy of p in f16 or bf16 along
 *           with it, where the call has one: weights.cuh.
 * Scratch   adam_step: those numbers; lars_step: the two norms, and a float for each block of the sums.
 * Limit     memory. Arrays read and written: sgd_step 2 and 1, momentum_step 3 and 2, adam_step 4 and 3, lars_step 5
 *           and 2, prox_step 3 and 1 (2 and 2 at first), sam_climb 2 and 2, sam_return 1 and 1,
 *           ema_step 2 and 1, lookahead_step 2 and 2, nesterov_step 2 and 2, unit_norm 1 and
 *           1, clip_norm 1 and 1 where the norm is above the limit. A copy is half an array written.
 * Measured  H200, 11.2 million parameters: 2.7 to 4.2 TB/s, lars_step of 2.4 million 1.4.
 */
#include "kernels/cuda/adam.cuh"
#include "kernels/cuda/tensor_total.cuh"
#include "kernels/cuda/weights.cuh"

/* p[count], g[count] */
template <class H>
static __global__ void sgd_step(weights<H> p, const float *g, float decay, const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad v = quad_load(p.at, i, count);
        const quad grad = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] -= lr * (grad.at[j] + decay * v.at[j]);
        weights_store(&p, i, count, v);
    }
}

template <class H> static void launch_sgd(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((sgd_step<H>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, weights_of<H>(call, 0),
              gr__f32(call->in[1]), (float)((const gr_sgd_args *)call->options)->weight_decay, call->exec->state,
              count);
}

FORWARD_OF_COPY(sgd_step, launch_sgd)

typedef struct {
    float mu, coupled, decoupled; /* decay in the gradient, decay beside the step */
    bool nesterov;
} momentum_numbers;

/* p[count], g[count], v[count] */
template <class H>
static __global__ void momentum_step(weights<H> p, const float *g, float *v, momentum_numbers a,
                                     const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p.at, i, count), velocity = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            const float grad = gradient.at[j] + a.coupled * weight.at[j];
            velocity.at[j] = a.mu * velocity.at[j] + grad;
            const float step = a.nesterov ? grad + a.mu * velocity.at[j] : velocity.at[j];
            weight.at[j] -= lr * (step + a.decoupled * weight.at[j]);
        }
        quad_store(v, i, count, velocity, false);
        weights_store(&p, i, count, weight);
    }
}

template <class H> static void launch_momentum(const gr_call *call)
{
    const gr_momentum_args *args = (const gr_momentum_args *)call->options;
    const float decay = (float)args->weight_decay;
    const momentum_numbers a = {(float)args->momentum, args->decoupled ? 0 : decay, args->decoupled ? decay : 0,
                                args->nesterov};
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((momentum_step<H>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, weights_of<H>(call, 0),
              gr__f32(call->in[1]), gr__f32(call->in[2]), a, call->exec->state, count);
}

FORWARD_OF_COPY(momentum_step, launch_momentum)

/* p[count], g[count], m[count], v[count] */
template <class H>
static __global__ void adam_step(weights<H> p, const float *g, float *m, float *v, const adam_numbers *numbers,
                                 const gr_step_state *state, int64_t count)
{
    const adam_numbers a = *numbers;
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p.at, i, count), first = quad_load(m, i, count), second = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++)
            adam_element(&a, gradient.at[j], &weight.at[j], &first.at[j], &second.at[j]);
        quad_store(m, i, count, first, false);
        quad_store(v, i, count, second, false);
        weights_store(&p, i, count, weight);
    }
}

extern "C" size_t GR_CUDA(adam_step_scratch)(const gr_call *call, gr_pass pass)
{
    (void)call, (void)pass;
    return sizeof(adam_numbers);
}

template <class H> static void launch_adam(const gr_call *call)
{
    const gr_adam_args *args = (const gr_adam_args *)call->options;
    adam_numbers *numbers = (adam_numbers *)call->exec->scratch;
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(adam_prepare, 1, 1, 0, call->exec->queue, numbers, *args, call->exec->state);
    GR_LAUNCH((adam_step<H>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, weights_of<H>(call, 0),
              gr__f32(call->in[1]), gr__f32(call->in[2]), gr__f32(call->in[3]), numbers, call->exec->state, count);
}

FORWARD_OF_COPY(adam_step, launch_adam)

/* The two norms. */
typedef struct {
    float weights, gradient;
} lars_norms;

GR_DEVICE float lars_ratio(const lars_norms *n, gr_lars_args a)
{
    if (n->weights == 0 || n->gradient == 0)
        return 1;
    return (float)a.trust * n->weights / (n->gradient + (float)a.weight_decay * n->weights + (float)a.epsilon);
}

/* p[count], g[count], v[count] */
template <class H>
static __global__ void lars_step(weights<H> p, const float *g, float *v, const lars_norms *n, gr_lars_args args,
                                 const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr, mu = (float)args.momentum, decay = (float)args.weight_decay,
                r = lars_ratio(n, args);
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad weight = quad_load(p.at, i, count), velocity = quad_load(v, i, count);
        const quad gradient = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            velocity.at[j] = mu * velocity.at[j] + r * (gradient.at[j] + decay * weight.at[j]);
            weight.at[j] -= lr * velocity.at[j];
        }
        quad_store(v, i, count, velocity, false);
        weights_store(&p, i, count, weight);
    }
}

enum { LARS_PARTIAL = 256 }; /* bytes from the norms to the sums of blocks */

extern "C" size_t GR_CUDA(lars_step_scratch)(const gr_call *call, gr_pass pass)
{
    (void)pass;
    return LARS_PARTIAL + tensor_total_bytes(call);
}

template <class H> static void launch_lars(const gr_call *call)
{
    lars_norms *n = (lars_norms *)call->exec->scratch;
    float *partial = (float *)((char *)call->exec->scratch + LARS_PARTIAL);
    const int64_t count = call->in[0]->count;
    const total weights = {&n->weights, partial, call->exec->arrivals};
    const total gradient = {&n->gradient, partial, call->exec->arrivals};
    tensor_total_into(weights, call->in[0], true, 1, true, call->exec->queue);
    tensor_total_into(gradient, call->in[1], true, 1, true, call->exec->queue);
    GR_LAUNCH((lars_step<H>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, weights_of<H>(call, 0),
              gr__f32(call->in[1]), gr__f32(call->in[2]), n, *(const gr_lars_args *)call->options, call->exec->state,
              count);
}

FORWARD_OF_COPY(lars_step, launch_lars)

/* p[count], g[count], anchor[count] */
static __global__ void prox_step(float *p, const float *g, float *anchor, float gamma, bool first,
                                 const gr_step_state *state, int64_t count)
{
    const float lr = (float)state->lr;
    const bool skip = state->skip;
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad weight = quad_load(p, i, count);
        const quad gradient = quad_load(g, i, count), from = first ? weight : quad_load(anchor, i, count);
        for (int j = 0; j < QUAD; j++)
            weight.at[j] =
                skip ? from.at[j] : weight.at[j] - lr * (gradient.at[j] + gamma * (weight.at[j] - from.at[j]));
        if (first)
            quad_store(anchor, i, count, from, false);
        quad_store(p, i, count, weight, false);
    }
}

extern "C" void GR_CUDA(prox_step_forward)(const gr_call *call)
{
    const gr_prox_args *args = (const gr_prox_args *)call->options;
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(prox_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), (float)args->gamma, args->first, call->exec->state, count);
}

/* p[count], g[count], norm[1], saved[count] */
static __global__ void sam_climb(float *p, const float *g, const float *norm, float *saved, float rho, int64_t count)
{
    const float factor = rho / (norm[0] + 1e-12f);
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad weight = quad_load(p, i, count);
        const quad gradient = quad_load(g, i, count);
        quad_store(saved, i, count, weight, false);
        for (int j = 0; j < QUAD; j++)
            weight.at[j] += factor * gradient.at[j];
        quad_store(p, i, count, weight, false);
    }
}

extern "C" void GR_CUDA(sam_climb_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(sam_climb, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->in[2]), gr__f32(call->in[3]),
              (float)((const gr_factor_args *)call->options)->factor, count);
}

/* p[count], saved[count] */
static __global__ void sam_return(float *p, const float *saved, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride())
        quad_store(p, i, count, quad_load(saved, i, count), false);
}

extern "C" void GR_CUDA(sam_return_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(sam_return, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), count);
}

/* average[count], p[count] */
static __global__ void ema_step(float *average, const float *p, double decay, const gr_step_state *state, int64_t count)
{
    const double t = (double)state->update - state->skipped;
    const float share = (float)(1 - fmin(decay, (t - 1) / (t + 8)));
    const int64_t end = state->skip ? 0 : count;
    for (int64_t i = quad_first(); i < end; i += quad_stride()) {
        quad mean = quad_load(average, i, count);
        const quad weight = quad_load(p, i, count);
        for (int j = 0; j < QUAD; j++)
            mean.at[j] += share * (weight.at[j] - mean.at[j]);
        quad_store(average, i, count, mean, false);
    }
}

extern "C" void GR_CUDA(ema_step_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(ema_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), ((const gr_factor_args *)call->options)->factor, call->exec->state, count);
}

/* slow[count], p[count] */
template <class H> static __global__ void lookahead_step(float *slow, weights<H> p, float share, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad pulled = quad_load(slow, i, count);
        const quad fast = quad_load(p.at, i, count);
        for (int j = 0; j < QUAD; j++)
            pulled.at[j] += share * (fast.at[j] - pulled.at[j]);
        quad_store(slow, i, count, pulled, false);
        weights_store(&p, i, count, pulled);
    }
}

template <class H> static void launch_lookahead(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH((lookahead_step<H>), quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              weights_of<H>(call, 1), (float)(1 - ((const gr_factor_args *)call->options)->factor), count);
}

FORWARD_OF_COPY(lookahead_step, launch_lookahead)

/* x[count] times a factor, in place */
GR_DEVICE void multiply(float *x, float factor, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(x, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] *= factor;
        quad_store(x, i, count, v, false);
    }
}

/* g[count], norm[1] */
static __global__ void clip_norm(float *g, const float *norm, float limit, int64_t count)
{
    const float share = limit / (norm[0] + 1e-6f);
    multiply(g, share, share >= 1 ? 0 : count);
}

extern "C" void GR_CUDA(clip_norm_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(clip_norm, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), (float)((const gr_factor_args *)call->options)->factor, count);
}

/* v[count], g[count], d[count] */
static __global__ void nesterov_step(float *v, const float *g, float *d, float mu, const gr_step_state *state,
                                     int64_t count)
{
    const bool skip = state->skip != 0;
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad velocity = quad_load(v, i, count), direction = quad_load(g, i, count);
        for (int j = 0; j < QUAD; j++) {
            velocity.at[j] = mu * velocity.at[j] + direction.at[j];
            direction.at[j] += mu * velocity.at[j];
        }
        if (!skip)
            quad_store(v, i, count, velocity, false);
        quad_store(d, i, count, direction, false);
    }
}

extern "C" void GR_CUDA(nesterov_step_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(nesterov_step, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), gr__f32(call->out[0]), (float)((const gr_factor_args *)call->options)->factor,
              call->exec->state, count);
}

/* x[count], norm[1] */
static __global__ void unit_norm(float *x, const float *norm, float length, const gr_step_state *state, int64_t count)
{
    multiply(x, length / (norm[0] + 1e-7f), state->skip ? 0 : count);
}

extern "C" void GR_CUDA(unit_norm_forward)(const gr_call *call)
{
    const int64_t count = call->in[0]->count;
    GR_LAUNCH(unit_norm, quad_blocks(count), QUAD_THREADS, 0, call->exec->queue, gr__f32(call->in[0]),
              gr__f32(call->in[1]), (float)((const gr_factor_args *)call->options)->factor, call->exec->state, count);
}
