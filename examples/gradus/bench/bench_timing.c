/* bench_timing.c - see bench_timing.h. */
#include "bench/bench_timing.h"

#include <math.h>
#include <string.h>

#include "bench/bench_judge.h"
#include "terminal/system.h"

enum { LEAST_ROUNDS = 5, LEAST_SAMPLES = 3 }; /* the former unless the time is over */

/* Seconds of each pass in a round, of running before it counts, and of measuring limits; less where time is short. */
static const double enough = 0.05, warm = 0.01, probing = 0.02;

static int64_t bytes_of(const gr_tensor *t)
{
    return gr_count(t) * (int64_t)gr_type_size(gr_type_of(t));
}

/* Bytes that a pass must read and write, every tensor once; bytes that a step touches. */
static void count_bytes(const bench_trial *t, bench_times *times)
{
    bench_pass *passes = times->passes;
    const double out = (double)bytes_of(t->result);
    bool own = true;
    passes[1].bytes_read = (double)bytes_of(t->dy) + t->row.saves_result * out;
    times->touched = bytes_of(t->dy);
    for (int i = 0; i < t->row.n; i++) {
        const bench_input *input = &t->row.inputs[i];
        const double bytes = input->picked ? out : (double)bytes_of(t->in[i]);
        own &= t->result != t->in[i];
        passes[0].bytes_read += !input->written * bytes;
        passes[0].bytes_written += (input->changed || input->written) * bytes;
        passes[1].bytes_read += input->saved * bytes;
        passes[1].bytes_written += input->gradient * bytes;
        times->touched += (int64_t)bytes * (t->dy && input->gradient ? 2 : 1);
    }
    passes[0].bytes_written += own * out;
    times->touched += own * (int64_t)out;
}

static double share_of(const bench_pace *pace, double seconds)
{
    return fmin(seconds, pace->seconds / 20);
}

/* Repeats the step until each pass has run for long enough. */
static void run_round(bench_trial *t, const bench_pace *pace, bench_times *times)
{
    const double whole = share_of(pace, enough), begin = now_seconds();
    double sum[2] = {0};
    while (gr_ok(t->ctx) && now_seconds() - begin < share_of(pace, warm))
        bench_repeat(t);
    for (int n = 0; n < BENCH_SAMPLES && gr_ok(t->ctx); n++) {
        const bool both = sum[0] >= whole && (sum[1] >= whole || !times->passes[1].there);
        if (n >= LEAST_SAMPLES && both)
            break;
        bench_repeat(t);
        for (int pass = 0; pass < 2; pass++) {
            bench_round *r = &times->passes[pass].rounds[times->rounds];
            r->seconds[n] = t->now[pass];
            r->samples = n + 1;
            sum[pass] += t->now[pass];
        }
    }
    times->rounds++;
}

double bench_round_median(const bench_pass *p, int r)
{
    double values[BENCH_SAMPLES];
    memcpy(values, p->rounds[r].seconds, sizeof values);
    return median_of(values, p->rounds[r].samples);
}

/* Adds up what all rounds have shown so far. Returns the noise of the noisiest pass. */
static double sum_up(bench_times *times)
{
    double worst = 0;
    for (int pass = 0; pass < 2; pass++) {
        bench_pass *p = &times->passes[pass];
        double medians[BENCH_ROUNDS];
        for (int r = 0; r < times->rounds; r++)
            medians[r] = bench_round_median(p, r);
        p->noise = noise_of(medians, times->rounds);
        p->median = median_of(medians, times->rounds);
        if (p->there)
            worst = fmax(worst, p->noise);
    }
    return worst;
}

static void keep_best(gr_ceilings *best, gr_ceilings now)
{
    best->flops = fmax(best->flops, now.flops);
    best->read = fmax(best->read, now.read);
    best->copy = fmax(best->copy, now.copy);
}

/* What stays the same in every round. */
static bool look_at_step(bench_trial *t, bench_times *times)
{
    bench_step(t);
    if (gr_ok(t->ctx))
        count_bytes(t, times);
    for (int pass = 0; pass < 2; pass++) {
        times->passes[pass].there = bench_shows(t, pass) && t->now[pass] > 0;
        times->passes[pass].flops = t->flops[pass];
    }
    gr_step_end(t->ctx);
    return gr_ok(t->ctx);
}

static bool finished(const bench_times *times, bench_pace pace, double noise, double spent)
{
    return times->rounds == BENCH_ROUNDS || spent >= pace.seconds ||
           (times->rounds >= LEAST_ROUNDS && noise <= pace.noise);
}

bool bench_time(bench_trial *t, const gr_options *options, bench_pace pace, bench_times *times)
{
    const double begin = now_seconds();
    bool done = look_at_step(t, times);
    while (done) {
        const int64_t size = t->way.cold ? INT64_MAX : times->touched;
        times->limits[times->rounds] = gr_measure_ceilings_at(t->ctx, size, share_of(&pace, probing));
        keep_best(&times->best, times->limits[times->rounds]);
        run_round(t, &pace, times);
        done = gr_ok(t->ctx);
        if (finished(times, pace, sum_up(times), now_seconds() - begin))
            break;
        bench_close(t);
        done = done && bench_open(t, t->c, t->way, options, t->batch, t->period);
    }
    return done;
}
