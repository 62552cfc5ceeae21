/*
 * limits.c - functions of one number at the ends of the line and beside it: what LIMITS of ops.def says of minus and
 * plus infinity, of the gradients there too, and NaN of NaN, on cpu and simt.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/table/checks.h"

/* Of each GR_UNARY in ops.def: y where x is -inf and inf, then dy/dx there. */
static const struct {
    const char *name;
    gr_tensor *(*call)(gr_tensor *x);
    float limits[4];
} functions[] = {
#define GR_OP(...)
#define GR_UNARY(name, reads, formula, limits, ...) {#name, gr_##name, GR_LIMITS limits},
#define GR_LIMITS(...) \
    {                  \
        __VA_ARGS__    \
    }
#include "kernels/ops/ops.def"
};

enum { COUNT = 3 };

static int wrong(const char *name, const char *device, const char *what, const float *got, const float *limits)
{
    if (got[0] == limits[0] && got[1] == limits[1])
        return 0;
    printf("FAIL %s: %s at -inf and inf is %g and %g on %s, wanted are %g and %g\n", name, what, (double)got[0],
           (double)got[1], device, (double)limits[0], (double)limits[1]);
    return 1;
}

static int check(const char *device, size_t i)
{
    const float x[COUNT] = {-INFINITY, INFINITY, NAN}, ones[COUNT] = {1, 1, 1};
    float y[COUNT] = {0}, dx[COUNT] = {0};
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *in = gr_variable(ctx, 1, (int64_t[]){COUNT}),
              *dy = gr_tensor_new(ctx, gr_real(ctx), 1, (int64_t[]){COUNT});
    gr_upload(in, x);
    gr_upload(dy, ones);
    gr_tensor *out = functions[i].call(in);
    gr_download(out, y);
    gr_backward_from(out, dy);
    gr_download(gr_grad(in), dx);
    int failures = !gr_ok(ctx) || !isnan(y[2]);
    if (failures)
        printf("FAIL %s: NaN becomes %g on %s; %s\n", functions[i].name, (double)y[2], device, gr_error_text(ctx));
    failures += wrong(functions[i].name, device, "y", y, functions[i].limits);
    failures += wrong(functions[i].name, device, "the gradient", dx, functions[i].limits + 2);
    gr_close(ctx);
    return failures;
}

int check_limits(const char *op)
{
    int failures = 0;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        failures += op && strcmp(op, functions[i].name) ? 0 : check("cpu", i) + check("simt", i);
    return failures;
}
