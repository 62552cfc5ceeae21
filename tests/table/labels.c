/*
 * labels.c - labels that are no class, and logits that are no number: the loss is NaN, and the gradient of the sample,
 * which counts as wrong and stands nowhere in the confusion matrix.
 */
#include <math.h>
#include <stdio.h>

#include "core/context.h"
#include "tests/table/checks.h"

/* z[2,C] of zeros with labels 0 and label. */
static bool answer(gr_context *ctx, int64_t C, int32_t label, double *loss, double *correct, double *counted)
{
    gr_tensor *z = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){2, C});
    gr_tensor *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){2});
    if (!gr_upload(labels, (int32_t[]){0, label}))
        return false;
    *loss = gr_item(C == 1 ? gr_sigmoid_bce(z, labels, NULL) : gr_softmax_cross_entropy(z, labels, NULL));
    *correct = gr_item(gr_accuracy(z, labels, NULL));
    *counted = gr_item(gr_sum(gr_confusion(z, labels, NULL)));
    return gr_ok(ctx);
}

/* Whether the gradient of z[2,C] is a number for the first sample, and for the second one if its label is valid. */
static bool gradient_is_right(const char *device, int64_t C, int32_t label, bool valid)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *z = gr_variable(ctx, 2, (int64_t[]){2, C}), *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){2});
    double d[8] = {0};
    bool right = gr_upload(labels, (int32_t[]){0, label});
    gr_backward(C == 1 ? gr_sigmoid_bce(z, labels, NULL) : gr_softmax_cross_entropy(z, labels, NULL));
    gr_download(gr_grad(z), d);
    for (int64_t i = 0; i < 2 * C; i++)
        right = right && isnan(gr_real(ctx) == GR_F64 ? d[i] : (double)((float *)d)[i]) == (i >= C && !valid);
    return gr_close(ctx) == 0 && right;
}

static int check(const char *device, int64_t C, int32_t label, bool valid)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    double loss = 0, correct = 0, counted = 0;
    bool answered = answer(ctx, C, label, &loss, &correct, &counted);
    gr_close(ctx);
    if (answered && isnan(loss) == !valid && correct == 1 && counted == 1 + valid &&
        gradient_is_right(device, C, label, valid)) /* logits of 0: the first class, so label 0 alone is right */
        return 0;
    printf("FAIL %s: label %d of %lld classes: loss %g, %g right, %g counted\n", device, (int)label,
           (long long)(C == 1 ? 2 : C), loss, correct, counted);
    return 1;
}

/* One row of C logits, all 0 but a NaN at place, with label 0. */
static int check_nan(const char *device, int64_t C, int64_t place)
{
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *z = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){1, C}),
              *labels = gr_tensor_new(ctx, GR_I32, 1, (int64_t[]){1});
    double wide[4] = {0};
    float narrow[4] = {0};
    wide[place] = NAN;
    narrow[place] = NAN;
    gr_upload(z, gr_real(ctx) == GR_F64 ? (void *)wide : (void *)narrow);
    double loss = gr_item(C == 1 ? gr_sigmoid_bce(z, labels, NULL) : gr_softmax_cross_entropy(z, labels, NULL));
    double correct = gr_item(gr_accuracy(z, labels, NULL));
    double counted = gr_item(gr_sum(gr_confusion(z, labels, NULL)));
    bool ok = gr_close(ctx) == 0 && isnan(loss) && correct == 0 && counted == 0;
    if (!ok)
        printf("FAIL %s: NaN at %lld of %lld logits: loss %g, %g right\n", device, (long long)place, (long long)C, loss,
               correct);
    return !ok;
}

int check_labels(void)
{
    static const char *const devices[] = {"ref", "cpu", "simt"};
    int failures = 0;
    for (int d = 0; d < 3; d++) {
        failures += check(devices[d], 3, 2, true) + check(devices[d], 3, 3, false) + check(devices[d], 3, -1, false);
        failures += check(devices[d], 1, 1, true) + check(devices[d], 1, 2, false) + check(devices[d], 1, -1, false);
        failures += check_nan(devices[d], 1, 0) + check_nan(devices[d], 4, 0) + check_nan(devices[d], 4, 3);
    }
    return failures;
}
