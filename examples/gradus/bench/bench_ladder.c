/* bench_ladder.c - see bench_ladder.h. */
#include "bench/bench_ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_counters.h"
#include "bench/bench_half.h"
#include "terminal/complain.h"
#include "terminal/system.h"
#include "terminal/text.h"
#include "train/row.h"

/*
 * Side of the square matrices. Counters tell the same story at any size of whole tiles, and the emulator is slow; a GPU
 * needs thousands of tiles to be full.
 */
enum { COUNTED_SIDE = 128, TIMED_SIDE = 4096 };
enum { LEAST = 3, MOST = 100 }; /* repeats that are timed */
enum { ROWS_CHECKED = 8, SECTOR = 32 /* bytes */ };

typedef struct {
    gr_context *ctx;
    int64_t side;
    gr_tensor *a, *b, *half_a, *half_b, *c;
    float *host;    /* a, b, c: [side, side] each */
    double ceiling; /* operations a second; 0: not timed */
    double repeat;  /* seconds */
    bool json;
} ladder;

/*
 * Quarters from -1 to 1: the products and their sums are exact in float, so any order of summation gives the same
 * number.
 */
static void draw(float *x, int64_t count, uint64_t state)
{
    for (int64_t i = 0; i < count; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX generator */
        x[i] = 0.25f * (float)((int)(state >> 60) % 9 - 4);
    }
}

/* The same numbers as halves. */
static bool upload_halves(gr_tensor *to, const float *from, int64_t count)
{
    uint16_t *bits = malloc((size_t)count * sizeof *bits);
    for (int64_t i = 0; bits && i < count; i++)
        bits[i] = half_bits(GR_F16, (double)from[i]);
    const bool done = bits && gr_upload(to, bits);
    free(bits);
    return done;
}

static bool set_up(ladder *l)
{
    const int64_t count = l->side * l->side, shape[2] = {l->side, l->side};
    l->host = malloc((size_t)(3 * count) * sizeof *l->host);
    l->a = gr_tensor_new(l->ctx, GR_F32, 2, shape);
    l->b = gr_tensor_new(l->ctx, GR_F32, 2, shape);
    l->half_a = gr_tensor_new(l->ctx, GR_F16, 2, shape);
    l->half_b = gr_tensor_new(l->ctx, GR_F16, 2, shape);
    l->c = gr_tensor_new(l->ctx, GR_F32, 2, shape);
    if (!l->host || !gr_ok(l->ctx))
        return false;
    draw(l->host, 2 * count, 1);
    return gr_upload(l->a, l->host) && gr_upload(l->b, l->host + count) && upload_halves(l->half_a, l->host, count) &&
           upload_halves(l->half_b, l->host + count, count);
}

/* The largest error of some rows of c, of all that lie at the edges of tiles. False: the context tells. */
static bool check(ladder *l, double *error)
{
    const int64_t n = l->side, count = n * n;
    float *a = l->host, *b = a + count, *c = b + count;
    if (!gr_download(l->c, c))
        return false;
    *error = 0;
    for (int r = 0; r < ROWS_CHECKED; r++) {
        const int64_t i = r * (n - 1) / (ROWS_CHECKED - 1);
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t k = 0; k < n; k++)
                sum += (double)a[i * n + k] * (double)b[k * n + j];
            *error = fmax(*error, fabs((double)c[i * n + j] - sum));
        }
    }
    return true;
}

/* --- one rung ----------------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool run_rung(ladder *l, int rung, gr_trace_event *e)
{
    const bool halves = gr_ladder_rung_type(l->ctx, rung) == GR_F16;
    return gr_ladder_run(l->ctx, rung, l->c, halves ? l->half_a : l->a, halves ? l->half_b : l->b, e);
}

/* The median of the repeats, in seconds. False: the context tells. */
static bool time_rung(ladder *l, int rung, double *median)
{
    double times[MOST];
    const double begin = now_seconds();
    int n = 0;
    for (; n < MOST && (n < LEAST || now_seconds() - begin < l->repeat); n++) {
        gr_trace_event e;
        if (!run_rung(l, rung, &e))
            return false;
        times[n] = e.end - e.begin;
    }
    qsort(times, (size_t)n, sizeof *times, ascending);
    *median = times[n / 2];
    return true;
}

static double share(int64_t a, double b)
{
    return b > 0 ? (double)a / b : 0;
}

static void print_line(const ladder *l, const gr_trace_event *first, double median)
{
    const gr_counters *c = &first->count;
    if (l->ceiling > 0)
        printf("%-14s %9.3f %9.1f %6.1f\n", first->module, 1e3 * median, 1e-9 * first->flops / median,
               100 * first->flops / median / l->ceiling);
    else
        printf("%-14s %9lld %9lld %9.2f %9lld %9.2f %9.2f\n", first->module, (long long)c->barriers,
               (long long)c->shared_requests, share(c->bank_conflicts, (double)c->shared_requests),
               (long long)c->global_requests, share(c->global_sectors, (double)c->global_requests),
               share(SECTOR * c->global_sectors, first->flops));
}

static void print_json(const ladder *l, const gr_trace_event *first, double median)
{
    json_t *row = json_pack("{s:s, s:I, s:s, s:s, s:s}", "rung", first->module, "side", (json_int_t)l->side, "device",
                            gr_device_name(l->ctx), "isa", gr_isa_name(l->ctx), "version", gr_version());
    json_t *more = l->ceiling > 0 ? json_pack("{s:f, s:f, s:f, s:f}", "ms", 1e3 * median, "gflops",
                                              1e-9 * first->flops / median, "ceiling_gflops", 1e-9 * l->ceiling,
                                              "flops_share", first->flops / median / l->ceiling)
                                  : counters_json(&first->count);
    json_object_update(row, more);
    json_dumpf(row, stdout, ROW_FORMAT);
    putchar('\n');
    json_decref(more);
    json_decref(row);
}

/* A rung that this device or build has not got. */
static int leave_out(const ladder *l, const char *name, const char *lacks)
{
    if (l->json) {
        json_t *row = json_pack("{s:s, s:s, s:s, s:s, s:s}", "rung", name, "lacks", lacks, "device",
                                gr_device_name(l->ctx), "isa", gr_isa_name(l->ctx), "version", gr_version());
        json_dumpf(row, stdout, ROW_FORMAT);
        putchar('\n');
        json_decref(row);
    } else {
        printf("%-14s not here: it wants %s\n", name, lacks);
    }
    return 0;
}

static int measure(ladder *l, int rung)
{
    const char *lacks = gr_ladder_rung_lacks(l->ctx, rung);
    if (lacks)
        return leave_out(l, gr_ladder_rung_name(l->ctx, rung), lacks);
    gr_trace_event first;
    double error = 0, median = 0;
    if (!run_rung(l, rung, &first) || !check(l, &error))
        return complain_of(l->ctx, "bench");
    if (error > 0)
        return complain(GR_DEVICE_FAULT, "bench", "rung %s is wrong: largest error %g", first.module, error);
    if (l->ceiling > 0 && !time_rung(l, rung, &median))
        return complain_of(l->ctx, "bench");
    (l->json ? print_json : print_line)(l, &first, median);
    fflush(stdout);
    return 0;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

static void print_heading(const ladder *l)
{
    printf("c = a b, square matrices of side %lld, on %s %s\n\n", (long long)l->side, gr_device_name(l->ctx),
           gr_isa_name(l->ctx));
    if (l->ceiling > 0)
        printf("%-14s %9s %9s %6s\n", "rung", "ms", "GFLOP/s", "%");
    else
        printf("%-14s %9s %9s %9s %9s %9s %9s\n", "rung", "barriers", "shared", "conflicts", "global", "sectors",
               "bytes/op");
}

static void print_legend(const ladder *l)
{
    putchar('\n');
    if (l->ceiling > 0)
        printf("%%: of the %.0f GFLOP/s of multiply-adds that were measured with operands in registers; tensor cores, "
               "from tensor_cores on, make more. ",
               1e-9 * l->ceiling);
    print_wrapped(stdout,
                  l->ceiling > 0
                      ? "The files are in kernels/cuda/ladder."
                      : "shared, global: requests, one access by one warp each. conflicts: turns of a shared request "
                        "beyond the first, because lanes need different words of one bank. sectors: pieces of 32 "
                        "bytes that a global request touches; 32 floats side by side are 4. bytes/op: of the sectors, "
                        "for each floating-point operation. The files are in kernels/cuda/ladder.",
                  0, 0);
}

/* The device must run the rungs, and tell something about them: counters, or times that mean something. */
static int check_device(ladder *l)
{
    if (!gr_ok(l->ctx))
        return complain_of(l->ctx, "bench");
    const char *device = gr_device_name(l->ctx);
    if (gr_ladder_rung_name(l->ctx, 0) && (gr_counts(l->ctx) || strcmp(device, "cuda") == 0))
        return 0;
    return complain(GR_USAGE, "bench",
                    "--ladder: the device %s%s cannot show it; --device cuda times it, --device simt counts in the "
                    "build that checks every access: cmake --preset check && cmake --build --preset check, then "
                    "build/check/gradus",
                    device, strcmp(device, "simt") == 0 ? " of this build" : "");
}

static int climb(ladder *l)
{
    int code = check_device(l);
    if (code)
        return code;
    l->side = gr_counts(l->ctx) ? COUNTED_SIDE : TIMED_SIDE;
    l->ceiling = gr_counts(l->ctx) ? 0 : gr_measure_ceilings(l->ctx).flops;
    if (!set_up(l))
        return gr_ok(l->ctx) ? complain(GR_NO_MEMORY, "bench", "--ladder: out of host memory")
                             : complain_of(l->ctx, "bench");
    if (!l->json)
        print_heading(l);
    for (int rung = 0; code == 0 && gr_ladder_rung_name(l->ctx, rung); rung++)
        code = measure(l, rung);
    if (!l->json && code == 0)
        print_legend(l);
    return code;
}

int bench_ladder(const gr_options *options, double seconds, bool json)
{
    ladder l = {.ctx = gr_open(options), .repeat = seconds, .json = json};
    const int code = climb(&l);
    free(l.host);
    gr_close(l.ctx);
    return code;
}
