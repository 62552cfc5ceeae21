/* profile_report.c - a profile as JSON, and as a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "terminal/json_values.h"
#include "terminal/text.h"

/* --- for machines ------------------------------------------------------------------------------------------------- */

/*
 * The least seconds that the machine needs for a line: for its arithmetic, or for its bytes. A byte read takes 1 /
 * read; a byte written the rest of what a copy takes for one of each, 2 / copy.
 */
static double least_seconds(const gr_ceilings *c, const line *l)
{
    if (c->flops <= 0)
        return NAN;
    const double write = fmax(2 / c->copy - 1 / c->read, 0);
    return fmax(l->flops / c->flops, l->bytes_read / c->read + l->bytes_written * write);
}

static json_t *line_json(const profile *p, const line *l)
{
    const estimate whole = recorder_update_time(p->record), own = recorder_line_time(p->record, l);
    int64_t updates;
    recorder_updates(p->record, &updates);
    const double n = (double)updates, bytes = l->bytes_read + l->bytes_written;
    json_t *o = json_pack("{s:s, s:s, s:f, s:f, s:o, s:f, s:f, s:f}", "op", l->name, "pass", l->pass, "calls",
                          l->calls / n, "ms", 1e3 * own.mean, "error_ms", json_real_or_null(1e3 * own.error), "share",
                          own.mean / whole.mean, "gflop", 1e-9 * l->flops / n, "gigabytes", 1e-9 * bytes / n);
    json_object_set_new(o, "gflops", json_real_or_null(1e-9 * l->flops / l->sum));
    json_object_set_new(o, "gbs", json_real_or_null(1e-9 * bytes / l->sum));
    json_object_set_new(o, "limit", json_real_or_null(least_seconds(&p->ceilings, l) / l->sum));
    return o;
}

static int by_time(const void *a, const void *b)
{
    const line *x = *(const line *const *)a, *y = *(const line *const *)b;
    return (x->sum < y->sum) - (x->sum > y->sum);
}

/* The lines, longest first. */
static json_t *lines_json(const profile *p, grouping g)
{
    int n;
    const line *lines = recorder_lines(p->record, g, &n);
    const line *sorted[RECORDER_LINES];
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        sorted[i] = &lines[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_time);
    for (int i = 0; i < n; i++)
        json_array_append_new(list, line_json(p, sorted[i]));
    return list;
}

/* The part of an update's time that goes into convolutions, with what is fused to them. */
static double convolutions(const json_t *operations)
{
    double share = 0;
    size_t i;
    const json_t *l;
    json_array_foreach(operations, i, l) if (strncmp(text_at(l, "op"), "conv2d", strlen("conv2d")) == 0) share +=
        number_at(l, "share");
    return share;
}

json_t *profile_json(const profile *p)
{
    const resolved *s = p->run;
    const estimate whole = recorder_update_time(p->record);
    int64_t updates, peak;
    recorder_updates(p->record, &updates);
    const site *at = recorder_peak(p->record, &peak);
    json_t *operations = lines_json(p, BY_OPERATION);
    json_array_append_new(operations, line_json(p, recorder_rest(p->record)));
    json_t *o = json_pack("{s:s, s:I, s:s, s:s, s:s, s:s, s:i, s:s, s:s, s:I, s:f, s:o, s:f, s:f, s:f, s:f, s:o, s:f}",
                          "recipe", s->recipe->name, "batch", (json_int_t)s->batch, "optimizer", s->optimizer->name,
                          "device", p->device, "isa", p->isa, "precision", p->precision, "threads", p->threads,
                          "version", gr_version(), "schedule", p->schedule, "updates", (json_int_t)updates, "ms",
                          1e3 * whole.mean, "error_ms", json_real_or_null(1e3 * whole.error), "limit_gflops",
                          1e-9 * p->ceilings.flops, "limit_read_gbs", 1e-9 * p->ceilings.read, "limit_copy_gbs",
                          1e-9 * p->ceilings.copy, "convolutions", convolutions(operations), "operations", operations,
                          "workers_ms", 1e3 * recorder_beside(p->record) / (double)updates);
    if (recorder_by_device(p->record))
        json_object_set_new(o, "loading_ms", json_real(1e3 * recorder_loading(p->record) / (double)updates));
    if (p->stack)
        json_object_set_new(o, "modules", lines_json(p, BY_MODULE));
    if (p->memory && at) {
        json_object_set_new(o, "peak_bytes", json_integer(peak));
        json_object_set_new(o, "peak_at",
                            json_sprintf("%s %s%s%s", at->op, at->pass, *at->module ? ", " : "", at->module));
    }
    return o;
}

/* --- for people --------------------------------------------------------------------------------------------------- */

/* Appends a number in so many columns, or blanks where there is none or nothing to tell. */
static void add_number(char text[128], double x, int width, int digits)
{
    const size_t at = strlen(text);
    if (isfinite(x) && x > 0)
        snprintf(text + at, 128 - at, " %*.*f", width, digits, x);
    else
        snprintf(text + at, 128 - at, " %*s", width, "");
}

static void print_line(const json_t *l)
{
    char text[128];
    snprintf(text, sizeof text, "%-22.22s %-8.8s", text_at(l, "op"), text_at(l, "pass"));
    add_number(text, number_at(l, "calls"), 5, 0);
    const size_t at = strlen(text);
    snprintf(text + at, sizeof text - at, " %9.3f %5.1f %%", number_at(l, "ms"), 100 * number_at(l, "share"));
    add_number(text, number_at(l, "gflops"), 8, 1);
    add_number(text, number_at(l, "gbs"), 7, 1);
    add_number(text, 100 * number_at(l, "limit"), 4, 0);
    size_t end = strlen(text);
    while (text[end - 1] == ' ')
        end--;
    printf("%.*s\n", (int)end, text);
}

enum { MODULES = 20 /* lines that people want to see */ };

/* The first so many lines of a list, whose longest times come first. */
static void print_lines(const json_t *list, const char *first, size_t most)
{
    size_t i;
    const json_t *l;
    printf("\n%-22s %-8s %5s %9s %7s %8s %7s %4s\n", first, "pass", "calls", "ms", "share", "GFLOP/s", "GB/s", "%");
    json_array_foreach(list, i, l) if (i < most) print_line(l);
    if (json_array_size(list) > most)
        printf("and %zu more, in profile.json\n", json_array_size(list) - most);
}

void profile_print(const json_t *o)
{
    char peak[32];
    printf("%s, %s, batch size %.0f, on %s %s, %.0f thread%s, %s\n", text_at(o, "recipe"), text_at(o, "optimizer"),
           number_at(o, "batch"), text_at(o, "device"), text_at(o, "isa"), number_at(o, "threads"),
           number_at(o, "threads") == 1 ? "" : "s", text_at(o, "precision"));
    printf("%.0f update%s (%s)\n", number_at(o, "updates"), number_at(o, "updates") == 1 ? "" : "s",
           text_at(o, "schedule"));
    printf("%.3f ms an update", number_at(o, "ms"));
    if (isfinite(number_at(o, "error_ms")))
        printf(", standard error of the mean %.3f ms", number_at(o, "error_ms"));
    printf("\nLimits, measured before: %.0f GFLOP/s, %.1f GB/s read, %.1f GB/s copied\n", number_at(o, "limit_gflops"),
           number_at(o, "limit_read_gbs"), number_at(o, "limit_copy_gbs"));
    print_lines(json_object_get(o, "operations"), "operation", SIZE_MAX);
    printf("%-22s %-8s %5s %9.3f %5.1f %%\n", "whole update", "", "", number_at(o, "ms"), 100.0);
    if (json_object_get(o, "modules"))
        print_lines(json_object_get(o, "modules"), "module", MODULES);
    if (number_at(o, "workers_ms") > 0)
        printf("\nBeside it workers filled batches, %.3f ms an update.\n", number_at(o, "workers_ms"));
    if (json_object_get(o, "loading_ms"))
        printf(
            "\nTimes are the device's own. Beside it the host filled batches or waited for\nthem, %.3f ms an update.\n",
            number_at(o, "loading_ms"));
    if (json_object_get(o, "peak_bytes"))
        printf("\nMost memory: %s, in %s\n", bytes_text(number_at(o, "peak_bytes"), peak), text_at(o, "peak_at"));
    printf("\n%%: of the limit that binds, arithmetic or memory; more than 100 where data\n"
           "stays in the caches, where tensor cores multiply, or where an algorithm needs\n"
           "fewer products than the formula.\n");
}
