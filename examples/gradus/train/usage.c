/*
 * usage.c - see usage.h. Model-FLOPs utilisation is that of Chowdhery et al. 2022, "PaLM: Scaling Language Modeling
 * with Pathways", appendix B: what the optimizer and the host do counts as time, not as work.
 */
#include "train/usage.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "terminal/complain.h"
#include "terminal/memory.h"
#include "terminal/system.h"
#include "terminal/text.h"

int usage_limits(const resolved *run, gr_ceilings *limits, const char *command)
{
    resolved alone = *run;
    alone.asked.memory_limit = 0;
    gr_context *ctx = resolved_open(&alone, false);
    *limits = gr_measure_ceilings(ctx);
    const int code = gr_ok(ctx) ? 0 : complain_of(ctx, command);
    gr_close(ctx);
    memory_peak_restart(); /* what that took is not the run's */
    return code;
}

static double cpu_seconds(void)
{
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) +
           1e-6 * (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec);
}

void usage_begin(usage_watch *w)
{
    *w =
        (usage_watch){.energy = energy_open("/sys/class/powercap"), .begin = now_seconds(), .cpu_begin = cpu_seconds()};
}

/*
 * The first update begins where its batch is asked for: before, gr_fit plans in dry runs. That span is told of at its
 * end, behind the kernels within it.
 */
static void begin_first(usage_watch *w, double begin)
{
    w->trains = true;
    for (int i = 0; i < BATCH_KERNELS && i < w->n_early; i++)
        w->bytes += w->early[i].begin >= begin ? w->early[i].bytes : 0;
}

void usage_event(usage_watch *w, const gr_trace_event *e)
{
    if (w->counted)
        return;
    if (!w->trains && e->kind == GR_TRACE_SPAN && strcmp(e->op, "loader") == 0)
        begin_first(w, e->begin);
    if (e->kind != GR_TRACE_KERNEL)
        return;
    const double bytes = e->bytes_read + e->bytes_written;
    if (w->trains) {
        w->bytes += bytes;
        return;
    }
    const int64_t place = w->n_early++ % BATCH_KERNELS;
    w->early[place].begin = e->begin;
    w->early[place].bytes = bytes;
}

void usage_count(usage_watch *w, int64_t samples)
{
    if (w->counted)
        return;
    w->counted = true;
    w->bytes /= (double)samples;
}

/* Samples a second of training; NAN where there was none. */
static double pace_of(const gr_fit_result *result)
{
    return result->updates > 0 ? (double)result->samples / result->seconds : NAN;
}

usage usage_end(usage_watch *w, const gr_fit_result *result)
{
    const double seconds = now_seconds() - w->begin;
    const int64_t peak = memory_peak();
    return (usage){.cores_busy = (cpu_seconds() - w->cpu_begin) / seconds,
                   .resident_bytes = peak > 0 ? peak : 0,
                   .cpu_power = energy_take(&w->energy) / seconds,
                   .model_flops = NAN,
                   .operand_bytes = w->counted ? w->bytes * pace_of(result) : NAN};
}

int usage_add_model(usage *u, gr_context *ctx, gr_module *net, const gr_fit_result *result, const char *command)
{
    enum { MOST = 2048 /* operations */ };
    gr_summary_row *rows = malloc(MOST * sizeof *rows);
    if (!rows)
        return complain(GR_NO_MEMORY, command, "out of host memory for a list of the network's operations");
    const int n = gr_summary(net, rows, MOST);
    double flops = n > 0 ? 0 : NAN;
    for (int i = 0; i < n; i++)
        flops += rows[i].flops_forward + rows[i].flops_backward;
    u->model_flops = flops * pace_of(result);
    free(rows);
    return gr_ok(ctx) ? 0 : complain_of(ctx, command);
}

double usage_mfu(const usage *u)
{
    return u->limits.flops > 0 ? u->model_flops / u->limits.flops : NAN;
}

/* A line with a number, unless it is not known. */
static void print_number(FILE *f, const char *name, double x, const char *unit, const char *meaning)
{
    char text[64];
    snprintf(text, sizeof text, "%.3g%s", x, unit);
    if (isfinite(x))
        print_defined(f, name, text, meaning);
}

static void print_limits(const usage *u, FILE *f)
{
    if (!(u->limits.flops > 0))
        return;
    print_number(f, "limit", 1e-9 * u->limits.flops, " GFLOP/s",
                 "measured before the run: multiply-adds with all operands in registers, on its threads");
    print_number(f, "", 1e-9 * u->limits.read, " GB/s", "measured before the run: reading memory beyond the caches");
    print_number(f, "MFU", 100 * usage_mfu(u), " %",
                 "model-FLOPs utilisation: the network's operations by the limit; what the optimizer, the host and "
                 "waiting take lowers it");
}

void usage_print(const usage *u, FILE *f)
{
    char text[32];
    fprintf(f, "\n");
    print_number(f, "busy", u->cores_busy, " cores",
                 "processor time of this process by the time on the clock, evaluation with it");
    if (u->resident_bytes > 0)
        print_defined(f, "resident", bytes_text((double)u->resident_bytes, text),
                      "most that this process had in memory at once, pictures and program with it (VmHWM)");
    print_number(f, "power", u->cpu_power, " W", "mean of the processor packages (RAPL), of all programs together");
    print_number(f, "network", 1e-9 * u->model_flops, " GFLOP/s",
                 "operations of its forward and backward passes by formula, a second of training");
    print_number(f, "operands", 1e-9 * u->operand_bytes, " GB/s",
                 "of every tensor that a kernel needs or makes, once a kernel, counted in the first update: caches "
                 "hold some, so it may be above what memory gives");
    print_limits(u, f);
}
