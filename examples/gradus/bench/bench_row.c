/* bench_row.c - see bench_row.h. */
#include "bench/bench_row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench_caches.h"
#include "bench/bench_counters.h"
#include "bench/bench_judge.h"
#include "terminal/build.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

const char *pass_name(const bench_line *line, const bench_way *way, int pass)
{
    if (pass == 0)
        return line->c->update ? "update" : "forward";
    return way->part == BENCH_DX ? "dx" : way->part == BENCH_DW ? "dw" : "backward";
}

double flops_share(const bench_times *times, const bench_pass *p)
{
    return p->flops / p->median / times->best.flops;
}

/* A byte read takes 1 / read; a byte written the rest of what a copy takes for one of each, 2 / copy. */
double memory_share(const bench_times *times, const bench_pass *p)
{
    const gr_ceilings *c = &times->best;
    const double write = fmax(2 / c->copy - 1 / c->read, 0);
    return (p->bytes_read / c->read + p->bytes_written * write) / p->median;
}

const char *level_of(const bench_report *r, const bench_times *times)
{
    if (strcmp(r->device, "cuda") == 0)
        return "";
    return r->way.cold ? "memory" : cache_holding(times->touched, r->threads);
}

static json_t *origin(void)
{
    char host[256] = "", processor[256], now[32];
    double load = NAN;
    gethostname(host, sizeof host - 1);
    getloadavg(&load, 1);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:i}", "version", gr_version(), "commit", build_commit(),
                     "compiler", build_compiler(), "host", host, "processor",
                     processor_name(processor, sizeof processor), "date", now_text(now), "load",
                     json_real_or_null(load), "process", (int)getpid());
}

static json_t *subject(const bench_report *r, const bench_line *line, const char *pass)
{
    char shapes[256];
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:s?, s:s, s:s, s:s, s:i, s:s, s:b}", "op", line->c->op, "case",
                     line->c->about, "row", line->c->row, "shapes", bench_shapes(line->c, shapes, sizeof shapes),
                     "batch", line->batched ? json_integer(line->batch) : json_null(), "pass", pass, "device",
                     r->device, "isa", r->isa, "precision", r->precision, "threads", r->threads, "caches",
                     r->way.cold ? "cold" : "warm", "pinned", r->way.pinned);
}

/* Samples of each round in whole nanoseconds. */
static json_t *samples(const bench_pass *p, int rounds)
{
    json_t *all = json_array();
    for (int r = 0; r < rounds; r++) {
        json_t *one = json_array();
        for (int i = 0; i < p->rounds[r].samples; i++)
            json_array_append_new(one, json_integer((json_int_t)llrint(1e9 * p->rounds[r].seconds[i])));
        json_array_append_new(all, one);
    }
    return all;
}

/* The limits of each round, three numbers in millions a second. */
static json_t *limits(const bench_times *times)
{
    json_t *all = json_array();
    for (int r = 0; r < times->rounds; r++) {
        const gr_ceilings *c = &times->limits[r];
        json_array_append_new(all, json_pack("[I, I, I]", (json_int_t)(1e-6 * c->flops), (json_int_t)(1e-6 * c->read),
                                             (json_int_t)(1e-6 * c->copy)));
    }
    return all;
}

static void quartiles(const bench_pass *p, int rounds, double found[2])
{
    double all[BENCH_ROUNDS * BENCH_SAMPLES];
    int n = 0;
    for (int r = 0; r < rounds; r++)
        for (int i = 0; i < p->rounds[r].samples; i++)
            all[n++] = p->rounds[r].seconds[i];
    median_of(all, n); /* sorts them */
    found[0] = quantile_of(all, n, 0.25);
    found[1] = quantile_of(all, n, 0.75);
}

static json_t *measured(const bench_report *r, const bench_line *line, const bench_pass *p)
{
    const bench_times *t = line->times;
    const gr_ceilings *c = &t->best;
    double quartile[2];
    int repeats = 0;
    quartiles(p, t->rounds, quartile);
    for (int i = 0; i < t->rounds; i++)
        repeats += p->rounds[i].samples;
    return json_pack(
        "{s:i, s:i, s:f, s:f, s:f, s:o, s:f, s:f, s:f, s:f, s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:o, s:o}", "rounds",
        t->rounds, "repeats", repeats, "ms", 1e3 * p->median, "ms_quartile1", 1e3 * quartile[0], "ms_quartile3",
        1e3 * quartile[1], "noise", json_real_or_null(p->noise), "gflops", 1e-9 * p->flops / p->median, "flops_share",
        flops_share(t, p), "gbs", 1e-9 * (p->bytes_read + p->bytes_written) / p->median, "memory_share",
        memory_share(t, p), "level", level_of(r, t), "touched_bytes", (json_int_t)t->touched, "ceiling_gflops",
        1e-9 * c->flops, "ceiling_read_gbs", 1e-9 * c->read, "ceiling_copy_gbs", 1e-9 * c->copy, "error", line->error,
        "checked_samples", (json_int_t)line->checked, "samples_ns", samples(p, t->rounds), "limits_mega", limits(t));
}

json_t *bench_row_json(const bench_report *r, const bench_line *line, int pass)
{
    json_t *row = subject(r, line, pass < 0 ? NULL : pass_name(line, &r->way, pass)), *from = origin();
    json_t *more = pass < 0      ? json_pack("{s:s}", "skipped", line->skipped)
                   : r->counters ? counters_json(&line->count[pass])
                                 : measured(r, line, &line->times->passes[pass]);
    json_object_update(row, from);
    json_object_update(row, more);
    json_decref(from);
    json_decref(more);
    return row;
}
