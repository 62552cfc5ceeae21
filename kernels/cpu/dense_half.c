/* dense_half.c - see dense_half.h. */
#include "kernels/cpu/dense_half.h"

typedef struct {
    const gr_call *call;
    int64_t N, in, out, block;
    half_window x, dx, y, dy; /* y and dy whole, x and dx a block of features */
    gr_tensor w;              /* f32 [block,out] */
    float *total;             /* [N,out]: y so far */
    void *inner;              /* scratch of the float kernel */
    size_t bytes;
} job;

static void convert_row(void *arg, int64_t n)
{
    const half_window *v = arg;
    const int64_t columns = v->wide.shape[1];
    char *half = (char *)v->half->data + (size_t)(n * v->half->shape[1] + v->first) * 2;
    float *wide = gr__f32(&v->wide) + n * columns;
    if (v->store)
        GR_CPU(convert)(v->half->type, half, GR_F32, wide, columns);
    else
        GR_CPU(convert)(GR_F32, wide, v->half->type, half, columns);
}

void half_window_convert(const gr_exec *exec, half_window *v, bool store)
{
    v->store = store;
    gr_parallel_for(exec, v->wide.shape[0], convert_row, v);
}

/* The call of the float kernel on columns features of x and rows of w. */
static gr_call inner_call(job *j, gr_pass pass, int64_t columns)
{
    gr_call c = *j->call;
    j->x.wide = float_matrix(j->N, columns, gr__f32(&j->x.wide));
    j->dx.wide = float_matrix(j->N, columns, gr__f32(&j->dx.wide));
    j->w = float_matrix(columns, j->out, gr__f32(&j->w));
    c.in[0] = &j->x.wide;
    c.in[1] = &j->w;
    c.out[0] = &j->y.wide;
    if (pass == GR_BACKWARD) {
        c.d_out[0] = &j->dy.wide;
        c.d_in[0] = c.d_in[0] ? &j->dx.wide : NULL;
    }
    return c;
}

static size_t inner_scratch(job *j, gr_pass pass, int64_t columns)
{
    const gr_call c = inner_call(j, pass, columns);
    return GR_CPU(dense_scratch)(&c, pass);
}

static job plan(const gr_call *call, gr_pass pass, void *base)
{
    const gr_tensor *x = call->in[0], *w = call->in[1];
    job j = {.call = call, .N = x->shape[0], .in = w->shape[0], .out = w->shape[1]};
    j.block = half_block(j.in, j.out + 2 * j.N);
    scratch s = {.base = base};
    j.x = (half_window){.half = call->in[0], .wide = float_matrix(j.N, j.block, scratch_take(&s, j.N * j.block))};
    j.w = float_matrix(j.block, j.out, scratch_take(&s, j.block * j.out));
    j.y = (half_window){.half = call->out[0], .wide = float_matrix(j.N, j.out, scratch_take(&s, j.N * j.out))};
    if (pass == GR_FORWARD) {
        j.total = scratch_take(&s, j.N * j.out);
    } else {
        j.dy = (half_window){.half = call->d_out[0], .wide = float_matrix(j.N, j.out, scratch_take(&s, j.N * j.out))};
        j.dx =
            (half_window){.half = call->d_in[0], .wide = float_matrix(j.N, j.block, scratch_take(&s, j.N * j.block))};
    }
    const size_t whole = inner_scratch(&j, pass, j.block),
                 rest = j.in % j.block ? inner_scratch(&j, pass, j.in % j.block) : 0;
    j.inner = scratch_take(&s, 0);
    j.bytes = s.used + (whole > rest ? whole : rest);
    return j;
}

enum { ROWS = 32 /* of w that a thread converts at a time */ };

/* Rows of w as floats. Arg: the job; j->x.first: the row where its block begins. */
static void widen_rows(void *arg, int64_t chunk)
{
    const job *j = arg;
    const gr_tensor *w = j->call->in[1]; /* [in,out] */
    const int64_t row = chunk * ROWS, n = min64(ROWS, j->w.shape[0] - row) * j->out;
    const int64_t from = (j->x.first + row) * j->out;
    float *to = gr__f32(&j->w) + row * j->out;
    if (w->type == GR_F32)
        GR_CPU(round_to)(j->call->in[0]->type, to, gr__f32(w) + from, n);
    else
        GR_CPU(convert)(GR_F32, to, w->type, (const uint16_t *)w->data + from, n);
}

/* Shows block first .. first+columns of x and w as floats. */
static void widen_block(job *j, int64_t first)
{
    j->x.first = j->dx.first = first;
    half_window_convert(j->call->exec, &j->x, false);
    gr_parallel_for(j->call->exec, ceil_div(j->w.shape[0], ROWS), widen_rows, j);
}

/*
 * Where x is of halves all that the slots of ops.def say are, as the policy makes them; but the gradient of a variable
 * is of floats, though the variable was rounded. w may be either: floats are rounded as they are read.
 */
bool GR_CPU(dense_halves)(const gr_call *call, gr_pass pass)
{
    const bool float_dx = pass == GR_BACKWARD && call->d_in[0] && !gr__is_half(call->d_in[0]);
    return gr__is_half(call->in[0]) && !float_dx;
}

size_t GR_CPU(dense_half_scratch)(const gr_call *call, gr_pass pass)
{
    return plan(call, pass, NULL).bytes;
}

/* total += y, element by element; the first block's y is the total. */
static void add_block(const job *j, bool first)
{
    const float *y = gr__f32(&j->y.wide);
    for (int64_t i = 0; i < j->N * j->out; i++)
        j->total[i] = first ? y[i] : j->total[i] + y[i];
}

void GR_CPU(dense_half_forward)(const gr_call *call)
{
    job j = plan(call, GR_FORWARD, call->exec->scratch);
    gr_exec exec = *call->exec;
    exec.scratch = j.inner;
    const gr_dense_args *args = call->options, plain = {.relu = false};
    for (int64_t first = 0; first < j.in; first += j.block) {
        gr_call c = inner_call(&j, GR_FORWARD, min64(j.block, j.in - first));
        widen_block(&j, first);
        c.exec = &exec;
        c.options = &plain;
        c.in[2] = first == 0 ? c.in[2] : NULL;
        GR_CPU(dense_forward)(&c);
        add_block(&j, first == 0);
    }
    for (int64_t i = 0; i < j.N * j.out; i++)
        gr__f32(&j.y.wide)[i] = args->relu && j.total[i] < 0 ? 0 : j.total[i];
    half_window_convert(call->exec, &j.y, true);
}

void GR_CPU(dense_half_backward)(const gr_call *call)
{
    job j = plan(call, GR_BACKWARD, call->exec->scratch);
    gr_exec exec = *call->exec;
    exec.scratch = j.inner;
    half_window_convert(call->exec, &j.y, false);
    half_window_convert(call->exec, &j.dy, false);
    gr_tensor dw;
    for (int64_t first = 0; first < j.in; first += j.block) {
        gr_call c = inner_call(&j, GR_BACKWARD, min64(j.block, j.in - first));
        widen_block(&j, first);
        c.exec = &exec;
        if (call->d_in[1]) {
            dw = float_matrix(j.w.shape[0], j.out, gr__f32(call->d_in[1]) + first * j.out);
            c.d_in[1] = &dw;
        }
        c.d_in[2] = first == 0 ? c.d_in[2] : NULL;
        if (c.d_in[0] && c.accumulate & 1)
            half_window_convert(call->exec, &j.dx, false);
        GR_CPU(dense_backward)(&c);
        if (c.d_in[0])
            half_window_convert(call->exec, &j.dx, true);
    }
}
