/* golden.c - rows against tests/goldens/OPERATION.safetensors, which scripts/make_goldens.py has made with PyTorch. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/safetensors.h"
#include "tests/table/answer.h"
#include "tests/table/checks.h"
#include "tests/table/report.h"

/* PyTorch rounds as often as the oracle, in another order, and has its own exp. */
static const double TIMES = 4;

static double times(const row *r)
{
    bool softmax =
        r->op->id == GR_OP_softmax_cross_entropy; /* PyTorch's exp(z - log sum exp z) has the rounding of z */
    return TIMES * r->updates * (softmax ? 1 + r->scale : 1);
}

static const gr_saved_tensor *find(const gr_safetensors *file, const char *of, const char *slot)
{
    char name[sizeof file->tensors->name];
    snprintf(name, sizeof name, "%s/%s", of, slot);
    for (int i = 0; i < file->n; i++)
        if (!strcmp(file->tensors[i].name, name))
            return &file->tensors[i];
    return NULL;
}

/* A golden's elements, which need not be aligned in the file, for the caller to free. NULL: it has another size. */
static double *elements(const gr_saved_tensor *t, int64_t count)
{
    int64_t n = 1;
    for (int i = 0; i < t->ndim; i++)
        n *= t->shape[i];
    if (n != count || t->type != GR_F64)
        return NULL;
    double *values = calloc((size_t)n + 1, sizeof *values);
    memcpy(values, t->data, (size_t)n * sizeof *values);
    return values;
}

/* One result: the front's answer against the golden, with the bounds of the truth. */
static void check_result(const truth *t, const gr_safetensors *file, int buffer, const double *got)
{
    const row *r = t->run.row;
    const gr_saved_tensor *saved = find(file, r->text, truth_name(r, buffer));
    double *want = saved ? elements(saved, trial_count(&t->run, buffer)) : NULL;
    if (!want) {
        report_failure(r, "golden", "%s is not in the golden, or of another size; run scripts/make_goldens.py",
                       truth_name(r, buffer));
        return;
    }
    for (int64_t i = 0; i < trial_count(&t->run, buffer); i++) {
        double bound = times(r) * t->slack[buffer] * DBL_EPSILON * t->magnitude[buffer][i];
        if (fabs(got[i] - want[i]) <= bound || got[i] == want[i])
            continue;
        report_failure(r, "golden", "%s[%lld] is %.17g, PyTorch's is %.17g, allowed are %.3g", truth_name(r, buffer),
                       (long long)i, got[i], want[i], bound);
        break;
    }
    free(want);
}

static void check_row(const truth *t, gr_context *ctx, const char *path)
{
    gr_safetensors file;
    answer a;
    bool read = gr__safetensors_read(ctx, path, &file);
    if (!read || !answer_get(ctx, t->run.row, front_call, &a)) {
        report_failure(t->run.row, "golden", "%s", gr_error_text(ctx));
    } else {
        for (int i = 0; i < TRIAL_SLOTS; i++)
            if (a.value[i] && t->magnitude[i])
                check_result(t, &file, i, a.value[i]);
        answer_free(&a);
    }
    if (read)
        gr__safetensors_free(&file);
}

void check_golden(const truth *t)
{
    if (!t->run.row->golden)
        return;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.safetensors", GRADUS_GOLDENS, t->run.row->op->name);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    check_row(t, ctx, path);
    gr_close(ctx);
}
