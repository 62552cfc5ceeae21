/* bench_report.c - see bench_report.h. */
#include "bench/bench_report.h"

#include <math.h>
#include <string.h>

#include "bench/bench_counters.h"
#include "terminal/text.h"
#include "train/row.h"

/* --- for people --------------------------------------------------------------------------------------------------- */

void report_machine(const bench_report *r)
{
    if (r->json || r->counters)
        return;
    printf("%s %s, %d thread%s, %s. Measured now:\n"
           "  %.0f GFLOP/s with operands in registers\n"
           "  %.1f GB/s read from memory, %.1f GB/s copied\n",
           r->device, r->isa, r->threads, r->threads == 1 ? "" : "s", r->precision, 1e-9 * r->ceilings.flops,
           1e-9 * r->ceilings.read, 1e-9 * r->ceilings.copy);
}

static void print_heading(void)
{
    printf("%6s %-8s %9s %19s %8s %4s %6s %4s %7s\n", "batch", "pass", "ms", "quartiles", "GFLOP/s", "%", "GB/s", "%",
           "error");
}

void report_case(const bench_report *r, const bench_case *c)
{
    char shapes[256];
    if (r->json)
        return;
    printf("\n%s: %s\n%s\n", c->op, c->about, bench_shapes(c, shapes, sizeof shapes));
    (r->counters ? counters_print_heading : print_heading)();
}

/*
 * Share of the least time in which memory could move these bytes. A byte read takes 1 / read; a byte written the rest
 * of what a copy takes for one of each, 2 / copy.
 */
static double memory_share(const gr_ceilings *c, const bench_pass *p)
{
    double write = fmax(2 / c->copy - 1 / c->read, 0);
    return (p->bytes_read / c->read + p->bytes_written * write) / p->median;
}

static double gigabytes(const bench_pass *p)
{
    return 1e-9 * (p->bytes_read + p->bytes_written) / p->median;
}

static void print_pass(const bench_report *r, const bench_line *line, const char *batch, int pass, const char *name)
{
    const bench_pass *p = &line->passes[pass];
    int digits = p->quartile[1] < 1 ? 4 : 1; /* of milliseconds, in the width of the column */
    printf("%6s %-8s %9.*f %9.*f %9.*f %8.1f %4.0f %6.1f %4.0f %7.0e\n", batch, name, digits, 1e3 * p->median, digits,
           1e3 * p->quartile[0], digits, 1e3 * p->quartile[1], 1e-9 * p->flops / p->median,
           100 * p->flops / p->median / r->ceilings.flops, gigabytes(p), 100 * memory_share(&r->ceilings, p),
           line->error);
}

static const char *pass_name(const bench_case *c, int pass)
{
    return pass == 1 ? "backward" : c->update ? "update" : "forward";
}

static void print_line(const bench_report *r, const bench_line *line)
{
    char batch[32] = "-";
    if (line->batch)
        snprintf(batch, sizeof batch, "%lld", (long long)line->batch);
    if (line->skipped[0])
        printf("%6s %s\n", batch, line->skipped);
    for (int pass = 0; pass < 2; pass++)
        if (line->count[pass].launches > 0 && r->counters)
            counters_print(batch, pass_name(line->c, pass), &line->count[pass]);
    for (int pass = 0; pass < 2; pass++)
        if (line->passes[pass].repeats > 0)
            print_pass(r, line, batch, pass, pass_name(line->c, pass));
    fflush(stdout);
}

void report_legend(const bench_report *r)
{
    if (r->json)
        return;
    if (r->counters) {
        counters_print_legend();
        return;
    }
    putchar('\n');
    print_wrapped(
        stdout,
        "ms: median and quartiles of the repeats. %: of what was measured above, of arithmetic (multiply-adds of "
        "floats) and of memory; more than 100 where tensor cores multiply or data stays in the caches. error: largest "
        "difference from the reference, as a share of the largest number.",
        0, 0);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static void print_json(json_t *row)
{
    json_dumpf(row, stdout, ROW_FORMAT);
    putchar('\n');
    fflush(stdout);
    json_decref(row);
}

static json_t *row_of(const bench_report *r, const bench_line *line, const char *pass)
{
    const gr_ceilings *c = &r->ceilings;
    char shapes[256];
    return json_pack("{s:s, s:s, s:s, s:o, s:s?, s:s, s:s, s:s, s:i, s:s, s:f, s:f, s:f}", "op", line->c->op, "case",
                     line->c->about, "shapes", bench_shapes(line->c, shapes, sizeof shapes), "batch",
                     line->batch ? json_integer(line->batch) : json_null(), "pass", pass, "device", r->device, "isa",
                     r->isa, "precision", r->precision, "threads", r->threads, "version", gr_version(),
                     "ceiling_gflops", 1e-9 * c->flops, "ceiling_read_gbs", 1e-9 * c->read, "ceiling_copy_gbs",
                     1e-9 * c->copy);
}

static void print_json_line(const bench_report *r, const bench_line *line)
{
    if (line->skipped[0]) {
        json_t *row = row_of(r, line, NULL);
        json_object_set_new(row, "skipped", json_string(line->skipped));
        print_json(row);
    }
    for (int pass = 0; pass < 2; pass++)
        if (line->count[pass].launches > 0 && r->counters) {
            json_t *row = row_of(r, line, pass_name(line->c, pass)), *counted = counters_json(&line->count[pass]);
            json_object_update(row, counted);
            json_decref(counted);
            print_json(row);
        }
    for (int pass = 0; pass < 2; pass++) {
        const bench_pass *p = &line->passes[pass];
        if (p->repeats == 0)
            continue;
        json_t *row = row_of(r, line, pass_name(line->c, pass));
        json_t *measured =
            json_pack("{s:i, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:I}", "repeats", p->repeats, "ms",
                      1e3 * p->median, "ms_quartile1", 1e3 * p->quartile[0], "ms_quartile3", 1e3 * p->quartile[1],
                      "gflops", 1e-9 * p->flops / p->median, "flops_share", p->flops / p->median / r->ceilings.flops,
                      "gbs", gigabytes(p), "memory_share", memory_share(&r->ceilings, p), "error", line->error,
                      "checked_samples", (json_int_t)line->checked);
        json_object_update(row, measured);
        json_decref(measured);
        print_json(row);
    }
}

void report_line(const bench_report *r, const bench_line *line)
{
    (r->json ? print_json_line : print_line)(r, line);
}
