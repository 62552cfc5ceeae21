/*
 * main.c - the operation table: every row on every kernel table that this processor can run.
 *
 *   test_table [--list] [--device NAME] [--op NAME] [--first] [--small] [--host] [WORD...]
 *
 * Runs the rows whose lines contain all WORDs, on all devices or one (ref-f64, ref-f32, plain, avx2, avx512, amx,
 * amx-bf16x3, amx-bf16x6, their emulated likes, simt, simt-tf32, cuda, cuda-tf32; one whose products can be made in
 * other ways, too, is run with all of them).
 * --first stops at the first row that fails; --small leaves out rows of more than SMALL elements;
 * --host leaves out simt and cuda. Without --device large rows on the twin of AMX tiles are left to those (is_spared).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/table/checks.h"
#include "tests/table/device.h"
#include "tests/table/report.h"

static const struct {
    const char *text;
    bool golden, host, gpu; /* host: not for the CUDA kernels; gpu: for them as nvcc makes them alone */
} lines[] = {
#define ROW(text) {text, true, false, false},
#define BIG(text) {text, false, false, false},
#define HOST(text) {text, false, true, false},
#define GPU(text) {text, false, false, true},
#include "tests/table/rows.def"
};

enum { LINES = sizeof lines / sizeof *lines, SMALL = 4096 };

typedef struct {
    bool list, first, small, host; /* host: not the devices that run the CUDA kernels */
    const table_device *device;    /* NULL: all */
    const char *op;                /* NULL: all */
    char **words;
    int n_words;
    gr_pool *pools[POOLS];
} settings;

/* Elements of all inputs. */
static int64_t elements(const row *r)
{
    int64_t sum = 0;
    for (int i = 0; i < GR_MAX_IN; i++) {
        int64_t count = 1;
        for (int j = 0; j < r->ndim[i]; j++)
            count *= r->shape[i][j];
        sum += r->ndim[i] >= 0 ? count : 0;
    }
    return sum;
}

/* Whether the CUDA kernels run there. */
static bool is_gpu(const table_device *d)
{
    return d->emulated || d->memory;
}

static bool chosen(const settings *s, const row *r)
{
    if (r->host && s->device && is_gpu(s->device))
        return false;
    if (r->gpu && !s->list && !(s->device && s->device->memory))
        return false;
    for (int i = 0; i < s->n_words; i++)
        if (!strstr(r->text, s->words[i]))
            return false;
    if (s->small && elements(r) > SMALL)
        return false;
    return !s->op || !strcmp(s->op, r->op->name);
}

/* All that is asked about the oracle itself, which every device stands on. */
static void check_oracle(const truth *t)
{
    check_golden(t);
    check_differences(t);
}

/* A device that is another one with products made in another way. */
static bool is_of_products(const table_device *d)
{
    return d->tf32 || d->pieces;
}

static void check_device(const settings *s, const table_device *d, truth *t)
{
    const gr_kernel *kernel = &d->kernels[t->run.row->op->id];
    if (!kernel->forward || !table_device_here(d) || (is_of_products(d) && !truth_multiplies(t->run.row->op)))
        return; /* the reference serves, nobody can run it here, or there is nothing to round */
    if (!d->halves)
        device_check_forward(d, t, s->pools);
    if (kernel->backward && !d->halves)
        device_check_backward(d, t, s->pools);
    if (!is_of_products(d))
        device_check_halves(d, t, s->pools);
    if (kernel->copies && !is_of_products(d))
        device_check_copies(d, t);
}

/*
 * Whether others do as well. On the twin of tiles large rows take minutes: where a processor has tiles they give the
 * same bits, and what is special about pieces small rows have, too.
 */
static bool is_spared(const row *r, const table_device *d)
{
    const table_device *tiles = table_device_find("amx"); /* NULL: for another kind of processor */
    return d->kernels == gr__cpu_amx_emulated_kernels && elements(r) > SMALL &&
           (d->pieces || (tiles && table_device_here(tiles)));
}

/* Whether it is asked for: all that run on the host or all there are, or one, "simt" with the like of "simt-tf32". */
static bool wanted(const settings *s, const row *r, const table_device *d)
{
    if (!s->device)
        return !is_spared(r, d) && (!is_gpu(d) || !(s->host || r->host));
    return s->device == d || (is_of_products(d) && s->device->kernels == d->kernels);
}

/* Whether the kernels for halves cut large rows along their features. */
static bool is_dense(const gr_op *op)
{
    return op->id == GR_OP_dense || op->id == GR_OP_dense_sgd || op->id == GR_OP_dense_adam;
}

static void check_in_halves(const settings *s, const truth *t)
{
    const row *r = t->run.row;
    const char *only = s->device ? s->device->name : NULL;
    gr_context *cpu = gr_open(NULL);
    const bool ref = !only || !strcmp(only, "ref-f32"), simt = only ? !strcmp(only, "simt") : !s->host;
    const bool on_cpu = !only || !strcmp(only, gr_isa_name(cpu));
    const table_device *gpu = table_device_find("cuda"); /* NULL: not built */
    const bool cuda = gpu && (only ? !strcmp(only, "cuda") : !s->host) && table_device_here(gpu);
    gr_close(cpu);
    if ((r->golden || is_dense(r->op)) && (ref || on_cpu || simt || cuda))
        check_halves(t, ref, on_cpu, simt, cuda);
}

static void check_row(const settings *s, const row *r)
{
    row_call call;
    const char *why;
    if (!front_capture(r, &call, &why)) {
        report_failure(r, "front", "%s", why);
        return;
    }
    truth t;
    truth_open(&t, r, &call);
    if (!s->device || !strcmp(s->device->name, "ref-f64"))
        check_oracle(&t);
    if (!s->device || s->device->threads)
        check_composition(&t);
    for (int i = 0; i < table_device_count; i++)
        if (wanted(s, r, &table_devices[i]))
            check_device(s, &table_devices[i], &t);
    check_in_halves(s, &t);
    truth_close(&t);
}

/* Rows; returns how many were run. */
static int check_rows(const settings *s, int rows_of[GR_OP_COUNT])
{
    int n = 0;
    for (int i = 0; i < LINES && !(s->first && report_failures()); i++) {
        row r;
        const char *why = "another row has the same line";
        bool good = row_parse(lines[i].text, lines[i].golden, &r, &why);
        r.host = lines[i].host;
        r.gpu = lines[i].gpu;
        for (int j = 0; j < i; j++)
            good &= strcmp(lines[i].text, lines[j].text) != 0;
        if (!good) {
            report_failure(&(row){.text = lines[i].text}, "rows.def", "%s", why);
            continue;
        }
        rows_of[r.op->id]++;
        if (!chosen(s, &r))
            continue;
        n++;
        if (s->list)
            printf("%s\n", r.text);
        else
            check_row(s, &r);
    }
    return n;
}

static int usage(void)
{
    fprintf(stderr,
            "usage: test_table [--list] [--device NAME] [--op NAME] [--first] [--small] [--host] [WORD...]\ndevices:");
    for (int i = 0; i < table_device_count; i++)
        fprintf(stderr, " %s%s", table_devices[i].name,
                table_device_here(&table_devices[i]) ? "" : " (not on this processor)");
    fprintf(stderr, "\n");
    return 2;
}

static bool parse(int argc, char **argv, settings *s)
{
    int i = 1;
    for (; i < argc && !strncmp(argv[i], "--", 2); i++) {
        if (!strcmp(argv[i], "--list"))
            s->list = true;
        else if (!strcmp(argv[i], "--first"))
            s->first = true;
        else if (!strcmp(argv[i], "--host"))
            s->host = true;
        else if (!strcmp(argv[i], "--small"))
            s->small = true;
        else if (!strcmp(argv[i], "--op") && i + 1 < argc)
            s->op = argv[++i];
        else if (!strcmp(argv[i], "--device") && i + 1 < argc && table_device_find(argv[i + 1]))
            s->device = table_device_find(argv[++i]);
        else
            return false;
    }
    s->words = argv + i;
    s->n_words = argc - i;
    return true;
}

int main(int argc, char **argv)
{
    static const int threads[POOLS] = {1, 2, 5};
    settings s = {0};
    if (!parse(argc, argv, &s))
        return usage();
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < POOLS; i++)
        s.pools[i] = gr__pool_open(threads[i]);
    int rows_of[GR_OP_COUNT] = {0}, n = check_rows(&s, rows_of), failures = report_failures();
    for (int i = 0; i < GR_OP_COUNT; i++)
        if (!rows_of[i]) {
            printf("FAIL %s: no rows\n", gr__ops[i].name);
            failures++;
        }
    bool whole = !s.list && !s.op && !s.n_words && !s.device;
    if (whole)
        failures += check_refusals() + check_twice();
    if (whole || (s.op && !s.list && !s.n_words && !s.device))
        failures += check_limits(s.op);
    if (whole || (s.op && !strcmp(s.op, "softmax_cross_entropy")))
        failures += check_labels();
    if (whole || (s.op && !strcmp(s.op, "conv2d")))
        failures += check_winograd() + check_winograd_dx();
    for (int i = 0; i < POOLS; i++)
        gr__pool_close(s.pools[i]);
    if (!s.list)
        printf("%d rows, %d failures\n", n, failures);
    return failures || !n;
}
