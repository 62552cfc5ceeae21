/*
 * bench_trial.c - see bench_trial.h.
 *
 * The reference is slow, so it computes only the first samples of a large batch, and the batch repeats them. To make
 * both comparable, gradients from outside are divided by the number of repetitions: a sum over the batch is then the
 * same, a sample's own gradient that much smaller. Inputs are quarters from -1 to 1: products and their sums are exact
 * in float, and no rounding turns a ReLU or another maximum round.
 */
#include "bench/bench_trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/system.h"

/* --- inputs ------------------------------------------------------------------------------------------------------- */

/* 64 bits that look random, a function of i alone: the finaliser of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t scramble(uint64_t i)
{
    i += 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static void store(void *values, gr_type type, int64_t i, double x)
{
    switch (type) {
    case GR_F64:
        ((double *)values)[i] = x;
        break;
    case GR_F32:
        ((float *)values)[i] = (float)x;
        break;
    case GR_I32:
        ((int32_t *)values)[i] = (int32_t)x;
        break;
    default:
        ((uint8_t *)values)[i] = (uint8_t)x;
    }
}

/* Number i of the maps of pictures with side pixels a side: see gr_augment. */
static double map_number(int side, bool turned, int64_t i)
{
    const int64_t k = i % GR_MAP;
    const uint64_t bits = scramble((uint64_t)(i / GR_MAP));
    const bool mirrored = bits % 2;
    const double move[2] = {(double)(bits / 2 % 9) - 4, (double)(bits / 32 % 9) - 4}, slope = turned ? 0.125 : 0;
    const double numbers[6] = {mirrored ? -1 : 1, slope, (mirrored ? side - 1 : 0) + move[0] + 0.5, -slope, 1,
                               move[1] + 0.5};
    if (k >= 12) /* the box is empty */
        return 0;
    const double number = numbers[k / 2], whole = floor(number);
    return k % 2 ? (double)(int32_t)(uint32_t)((number - whole) * 0x1p32) : whole;
}

/* Element i of an input; key tells the inputs of a case apart. */
static double draw(const bench_input *input, int key, int64_t i)
{
    uint64_t bits = scramble((uint64_t)i + ((uint64_t)key << 56)) >> 20;
    if (input->maps)
        return map_number(input->classes, input->turned, i);
    if (input->classes)
        return (double)(bits % (uint64_t)input->classes);
    if (input->bytes)
        return (double)(bits % 256);
    return input->positive ? 0.5 + 0.125 * (double)(bits % 8) : 0.25 * ((double)(bits % 9) - 4);
}

/* Fills t, whose samples repeat after period where it has any. False: out of host memory, or the context tells. */
static bool fill(gr_tensor *t, const bench_input *input, int key, int64_t batch, int64_t period)
{
    int64_t count = gr_count(t), repeat = input->has_batch ? count / batch * period : count;
    double scale = input->outside && input->has_batch ? (double)period / (double)batch : 1;
    void *values = malloc((size_t)count * gr_type_size(gr_type_of(t)));
    for (int64_t i = 0; values && i < count; i++)
        store(values, gr_type_of(t), i, scale * draw(input, key, i % repeat));
    bool done = values && gr_upload(t, values);
    free(values);
    return done;
}

/* --- setting up --------------------------------------------------------------------------------------------------- */

static void on_kernel(void *user, const gr_trace_event *e)
{
    bench_trial *t = user;
    int pass = strcmp(e->pass, "backward") == 0;
    if (strcmp(e->op, t->c->op) != 0)
        return;
    t->now[pass] += e->end - e->begin;
    t->flops[pass] += e->flops;
    t->count[pass] = e->count;
}

/*
 * Kernels of updates read the learning rate from the step's state, which an optimizer's step writes: one of one weight.
 */
static void set_learning_rate(gr_context *ctx)
{
    gr_module *net = gr_dense_layer(ctx, &(gr_dense_options){.units = 1});
    gr_tensor *x = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){1, 1});
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.01});
    gr_backward(gr_forward(net, x));
    gr_optimizer_step(opt);
    gr_step_end(ctx);
}

static bool make_inputs(bench_trial *t)
{
    for (int i = 0; i < t->row.n; i++) {
        const bench_input *input = &t->row.inputs[i];
        gr_type type = input->classes ? GR_I32 : input->bytes ? GR_U8 : gr_real(t->ctx);
        t->in[i] = input->gradient ? gr_variable(t->ctx, input->ndim, input->shape)
                                   : gr_tensor_new(t->ctx, type, input->ndim, input->shape);
    }
    return gr_ok(t->ctx);
}

static bool fill_inputs(bench_trial *t)
{
    bool done = true;
    for (int i = 0; i < t->row.n && done; i++)
        done = fill(t->in[i], &t->row.inputs[i], i, t->batch, t->period);
    bench_input dy = {.has_batch = gr_count(t->dy) > 1, .outside = true};
    return done && (!t->dy || fill(t->dy, &dy, BENCH_INPUTS, t->batch, t->period));
}

static bool wants_gradient(const bench_trial *t)
{
    for (int i = 0; i < t->row.n; i++)
        if (t->row.inputs[i].gradient)
            return true;
    return false;
}

/* One step, up to but without its end. */
static void step(bench_trial *t)
{
    t->now[0] = t->now[1] = t->flops[0] = t->flops[1] = 0;
    gr_clear_gradients(t->ctx);
    t->result = bench_call(t->c, &t->row, t->ctx, t->in);
    if (t->result && !t->dy && wants_gradient(t)) { /* the first time, between gr_plan_begin and gr_plan_end */
        int64_t shape[GR_MAX_DIMS];
        for (int i = 0; i < gr_ndim(t->result); i++)
            shape[i] = gr_dim(t->result, i);
        t->dy = gr_tensor_new(t->ctx, gr_real(t->ctx), gr_ndim(t->result), shape);
    }
    if (t->dy)
        gr_backward_from(t->result, t->dy);
}

bool bench_open(bench_trial *t, const bench_case *c, const gr_options *options, int64_t batch, int64_t period)
{
    *t = (bench_trial){.c = c, .batch = batch, .period = period, .ctx = gr_open(options)};
    t->row = bench_read(c, batch);
    if (!make_inputs(t))
        return false;
    set_learning_rate(t->ctx);
    gr_trace(t->ctx, on_kernel, t);
    gr_plan_begin(t->ctx);
    step(t);
    gr_plan_end(t->ctx);
    return gr_ok(t->ctx) && (options->plan_only || fill_inputs(t));
}

void bench_close(bench_trial *t)
{
    gr_close(t->ctx);
    t->ctx = NULL;
}

static int64_t bytes_of(const gr_tensor *t)
{
    return gr_count(t) * (int64_t)gr_type_size(gr_type_of(t));
}

int64_t bench_staging(const bench_trial *t)
{
    int64_t most = gr_count(t->dy);
    for (int i = 0; i < t->row.n; i++)
        most = gr_count(t->in[i]) > most ? gr_count(t->in[i]) : most;
    return 2 * most * (int64_t)sizeof(double); /* a tensor as it is, and as double */
}

int64_t bench_period(const bench_trial *planned)
{
    const double most = 5e8, per_element = 10; /* operations; what an element costs beyond them */
    double work = planned->flops[0] + planned->flops[1] + per_element * (double)gr_count(planned->dy);
    for (int i = 0; i < planned->row.n; i++)
        work += planned->row.inputs[i].has_batch ? per_element * (double)gr_count(planned->in[i]) : 0;
    int64_t period = planned->batch;
    while (period > 1 && (planned->batch % period || work * (double)period / (double)planned->batch > most))
        period--;
    return period;
}

/* --- answers ------------------------------------------------------------------------------------------------------ */

static double load(const void *values, gr_type type, int64_t i)
{
    switch (type) {
    case GR_F64:
        return ((const double *)values)[i];
    case GR_F32:
        return ((const float *)values)[i];
    case GR_I32:
        return ((const int32_t *)values)[i];
    case GR_F16:
    case GR_BF16:
        return ((const uint16_t *)values)[i]; /* their bits: what is rounded is the same */
    default:
        return ((const uint8_t *)values)[i];
    }
}

/* Adds a tensor to an answer; of input number key that is changed in place (else -1), what was added to it. */
static bool keep(bench_answer *a, const bench_trial *trial, const gr_tensor *t, int key, bool per_sample_gradient,
                 const char *what, const char *name)
{
    int64_t count = gr_count(t);
    void *raw = malloc((size_t)bytes_of(t) + 1);
    double *values = malloc((size_t)count * sizeof *values + 1);
    bool done = raw && values && gr_download(t, raw);
    for (int64_t i = 0; done && i < count; i++)
        values[i] = load(raw, gr_type_of(t), i) - (key < 0 ? 0 : draw(&trial->row.inputs[key], key, i));
    free(raw);
    snprintf(a->parts[a->n].what, sizeof a->parts[a->n].what, "%s%s", what, name);
    a->parts[a->n].count = count;
    a->parts[a->n].per_sample_gradient = per_sample_gradient;
    a->parts[a->n++].values = values;
    return done;
}

bool bench_ask(bench_trial *t, bench_answer *answer)
{
    *answer = (bench_answer){0};
    step(t);
    bool outside = false, own = true, done = gr_ok(t->ctx); /* own: the result is no input */
    for (int i = 0; i < t->row.n; i++) {
        outside |= t->row.inputs[i].outside;
        own &= t->result != t->in[i];
    }
    if (own && done)
        done = keep(answer, t, t->result, -1, outside, "the result", "");
    for (int i = 0; i < t->row.n && done; i++) {
        const bench_input *input = &t->row.inputs[i];
        if (input->gradient)
            done = keep(answer, t, gr_grad(t->in[i]), -1, true, "the gradient of ", input->name);
        else if (input->changed)
            done = keep(answer, t, t->in[i], i, false, "the change of ", input->name);
        else if (input->written)
            done = keep(answer, t, t->in[i], -1, false, "the new ", input->name);
    }
    gr_step_end(t->ctx);
    return done && gr_ok(t->ctx);
}

void bench_forget(bench_answer *answer)
{
    for (int i = 0; i < answer->n; i++)
        free(answer->parts[i].values);
    answer->n = 0;
}

/* As bench_compare, of one tensor. */
static double difference(const double *values, int64_t count, const double *expected, int64_t period, double scale)
{
    double largest = 0, apart = 0;
    for (int64_t i = 0; i < period; i++)
        largest = fmax(largest, fabs(scale * expected[i]));
    for (int64_t i = 0, j = 0; i < count; i++, j = j + 1 < period ? j + 1 : 0) {
        double d = fabs(values[i] - scale * expected[j]);
        if (!isfinite(d))
            return INFINITY;
        apart = d > apart ? d : apart;
    }
    return largest > 0 ? apart / largest : apart;
}

double bench_compare(const bench_answer *answer, const bench_answer *reference, const char **what)
{
    double worst = -1;
    for (int i = 0; i < answer->n; i++) {
        int64_t count = answer->parts[i].count, period = reference->parts[i].count;
        bool shared = answer->parts[i].per_sample_gradient && count > period;
        double d = difference(answer->parts[i].values, count, reference->parts[i].values, period,
                              shared ? (double)period / (double)count : 1);
        if (d > worst) {
            worst = d;
            *what = answer->parts[i].what;
        }
    }
    return worst;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

enum { ENOUGH = 10, MOST = 20000 };            /* repeats */
static const double at_most = 15, warm = 0.25; /* times as long as a pass should run: in all; before it counts */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const double *sorted, int n, double share)
{
    double at = share * (n - 1);
    int below = (int)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

/* Bytes that a pass must read and write, every tensor once. */
static void count_bytes(const bench_trial *t, const gr_tensor *result, bench_pass passes[2])
{
    double out = (double)bytes_of(result);
    bool own = true;
    passes[1].bytes_read = (double)bytes_of(t->dy) + t->row.saves_result * out;
    for (int i = 0; i < t->row.n; i++) {
        const bench_input *input = &t->row.inputs[i];
        double bytes = input->picked ? out : (double)bytes_of(t->in[i]);
        own &= result != t->in[i];
        passes[0].bytes_read += !input->written * bytes;
        passes[0].bytes_written += (input->changed || input->written) * bytes;
        passes[1].bytes_read += input->saved * bytes;
        passes[1].bytes_written += input->gradient * bytes;
    }
    passes[0].bytes_written += own * out;
}

/* Repeats the step until each pass has run for long enough, or all of it too long. */
static int repeat(bench_trial *t, double enough, double *seconds[2])
{
    double begin = now_seconds(), sum[2] = {0};
    int n = 0;
    for (; n < MOST && gr_ok(t->ctx); n++) {
        double spent = now_seconds() - begin;
        bool both = sum[0] >= enough && (sum[1] >= enough || !t->dy);
        if ((n >= ENOUGH && both) || (n >= 3 && spent > at_most * enough))
            break;
        step(t);
        gr_step_end(t->ctx);
        for (int pass = 0; pass < 2; pass++) {
            seconds[pass][n] = t->now[pass];
            sum[pass] += t->now[pass];
        }
    }
    return n;
}

static void warm_up(bench_trial *t, double enough)
{
    double begin = now_seconds();
    for (int i = 0; i < MOST && gr_ok(t->ctx) && (i < 1 || now_seconds() - begin < warm * enough); i++) {
        step(t);
        gr_step_end(t->ctx);
    }
}

bool bench_measure(bench_trial *t, double enough, bench_pass passes[2])
{
    double *seconds[2] = {malloc(MOST * sizeof(double)), malloc(MOST * sizeof(double))};
    passes[0] = passes[1] = (bench_pass){0};
    bool memory = seconds[0] && seconds[1];
    if (memory)
        warm_up(t, enough);
    int n = memory ? repeat(t, enough, seconds) : 0;
    step(t);
    count_bytes(t, t->result, passes);
    for (int pass = 0; pass < 2 && n > 0; pass++) {
        if (t->now[pass] <= 0)
            continue;
        qsort(seconds[pass], (size_t)n, sizeof(double), ascending);
        passes[pass].repeats = n;
        passes[pass].median = quantile(seconds[pass], n, 0.5);
        passes[pass].quartile[0] = quantile(seconds[pass], n, 0.25);
        passes[pass].quartile[1] = quantile(seconds[pass], n, 0.75);
        passes[pass].flops = t->flops[pass];
    }
    gr_step_end(t->ctx);
    free(seconds[0]);
    free(seconds[1]);
    return n > 0 && gr_ok(t->ctx);
}
