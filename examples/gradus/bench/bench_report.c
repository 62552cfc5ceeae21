/* bench_report.c - see bench_report.h. */
#include "bench/bench_report.h"

#include <math.h>
#include <string.h>

#include "bench/bench_counters.h"
#include "bench/bench_row.h"
#include "terminal/text.h"
#include "train/row.h"

void report_machine(const bench_report *r)
{
    if (r->json || r->counters || r->silent)
        return;
    printf("%s %s, %d thread%s%s, %s, %s caches\n", r->device, r->isa, r->threads, r->threads == 1 ? "" : "s",
           r->way.pinned ? " (pinned)" : "", r->precision, r->way.cold ? "cold" : "warm");
}

static void print_heading(void)
{
    printf("%6s %-8s %10s %6s %8s %4s %7s %4s %-6s %7s\n", "batch", "pass", "ms", "+- %", "GFLOP/s", "%", "GB/s", "%",
           "of", "error");
}

void report_case(const bench_report *r, const bench_case *c)
{
    if (r->json || r->silent)
        return;
    printf("\n%s: %s\n", c->op, c->about);
    print_wrapped(stdout, c->row, 0, 2);
    (r->counters ? counters_print_heading : print_heading)();
}

static void print_pass(const bench_report *r, const bench_line *line, const char *batch, int pass)
{
    const bench_pass *p = &line->times->passes[pass];
    char noise[16] = "-";
    if (isfinite(p->noise))
        snprintf(noise, sizeof noise, "%.1f", 100 * p->noise);
    printf("%6s %-8s %10.*f %6s %8.1f %4.0f %7.1f %4.0f %-6s %7.0e\n", batch, pass_name(line, &r->way, pass),
           p->median < 1 ? 4 : 1, 1e3 * p->median, noise, 1e-9 * p->flops / p->median,
           100 * flops_share(line->times, p), 1e-9 * (p->bytes_read + p->bytes_written) / p->median,
           100 * memory_share(line->times, p), level_of(r, line->times), line->error);
}

static bool has_row(const bench_report *r, const bench_line *line, int pass)
{
    return r->counters ? line->count[pass].launches > 0 : !line->skipped[0] && line->times->passes[pass].there;
}

static void print_line(const bench_report *r, const bench_line *line)
{
    char batch[32] = "-";
    if (line->batched)
        snprintf(batch, sizeof batch, "%lld", (long long)line->batch);
    if (line->skipped[0])
        printf("%6s %s\n", batch, line->skipped);
    for (int pass = 0; pass < 2; pass++)
        if (has_row(r, line, pass) && r->counters)
            counters_print(batch, pass_name(line, &r->way, pass), &line->count[pass]);
        else if (has_row(r, line, pass))
            print_pass(r, line, batch, pass);
    fflush(stdout);
}

static void keep_row(bench_report *r, json_t *row)
{
    if (r->json && !r->silent) {
        json_dumpf(row, stdout, ROW_FORMAT);
        putchar('\n');
        fflush(stdout);
    }
    json_array_append_new(r->rows, row);
}

void report_line(bench_report *r, const bench_line *line)
{
    if (!r->json && !r->silent)
        print_line(r, line);
    if (line->skipped[0])
        keep_row(r, bench_row_json(r, line, -1));
    for (int pass = 0; pass < 2; pass++)
        if (has_row(r, line, pass))
            keep_row(r, bench_row_json(r, line, pass));
}

void report_legend(const bench_report *r)
{
    if (r->json || r->silent)
        return;
    if (r->counters) {
        counters_print_legend();
        return;
    }
    putchar('\n');
    print_wrapped(
        stdout,
        "ms: median of the rounds; +-: its 95 % interval. %: of the limits that were measured beside it, of arithmetic "
        "(multiply-adds of floats; tensor cores and Winograd's algorithm can pass 100) and of moving the operands "
        "where they lie: in a cache or in memory. error: largest difference from the reference, as a share of the "
        "largest number.",
        0, 0);
}
