/* bench_timing.c - see bench_timing.h. */
#include "bench/bench_timing.h"

#include <stdlib.h>

#include "terminal/system.h"

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

static int64_t bytes_of(const gr_tensor *t)
{
    return gr_count(t) * (int64_t)gr_type_size(gr_type_of(t));
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
        bench_step(t);
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
        bench_step(t);
        gr_step_end(t->ctx);
    }
}

bool bench_time(bench_trial *t, double enough, bench_pass passes[2])
{
    double *seconds[2] = {malloc(MOST * sizeof(double)), malloc(MOST * sizeof(double))};
    passes[0] = passes[1] = (bench_pass){0};
    bool memory = seconds[0] && seconds[1];
    if (memory)
        warm_up(t, enough);
    int n = memory ? repeat(t, enough, seconds) : 0;
    bench_step(t);
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
