/* answers.c - see answers.h. */
#include "evaluate/answers.h"

#include <stdlib.h>

#include "predict/probabilities.h"
#include "terminal/complain.h"

enum { BATCH = 64 };

/* Adds a share of those of a batch, whose first sample is number first. False: the context tells, or no memory. */
static bool add_batch(answers *a, double share, gr_tensor *z, int64_t first, int64_t rows, int64_t n)
{
    const int logits = (int)gr_dim(z, 1), classes = probabilities_classes(logits);
    if (!a->p) {
        a->classes = classes;
        a->p = calloc((size_t)n * (size_t)classes, sizeof *a->p);
    }
    float *values = malloc((size_t)gr_count(z) * sizeof *values);
    double *p = malloc((size_t)classes * sizeof *p);
    const bool good = a->p && values && p && gr_download(z, values);
    for (int64_t row = 0; good && row < rows; row++) {
        probabilities_of(values + row * logits, logits, p);
        for (int i = 0; i < classes; i++)
            a->p[(first + row) * classes + i] += share * p[i];
    }
    free(values);
    free(p);
    return good;
}

int answers_add(gr_context *ctx, gr_module *net, gr_dataset *set, double share, const char *command, answers *a)
{
    const int64_t n = gr_dataset_size(set);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = n < BATCH ? n : BATCH, .order = GR_IN_ORDER});
    gr_batch batch;
    bool good = true;
    gr_record(ctx, false);
    for (int64_t at = 0; good && at < n && gr_loader_next(loader, &batch); at += batch.samples) {
        gr_tensor *z = gr_forward(net, batch.x);
        good = z && add_batch(a, share, z, at, batch.samples, n);
        gr_step_end(ctx);
    }
    gr_loader_close(loader);
    if (!gr_ok(ctx))
        return complain_of(ctx, command);
    return good ? 0
                : complain(GR_NO_MEMORY, command, "out of host memory for the answers of %lld samples", (long long)n);
}

void answers_close(answers *a)
{
    free(a->p);
    a->p = NULL;
}

int answers_score(const answers *a, const test_pictures *t, const char *command, scores *s)
{
    const int64_t n = gr_dataset_size(t->set);
    int *labels = malloc((size_t)(n + 1) * sizeof *labels), code = 0;
    for (int64_t i = 0; labels && i < n && code == 0; i++) {
        labels[i] = test_pictures_label(t, i);
        if (labels[i] >= a->classes)
            code = complain(GR_BAD_DATA, command, "%s has a class number %d, the network has answers for %d", t->data,
                            labels[i], a->classes);
    }
    if (code == 0 && (!labels || !scores_make(s, a->p, labels, n, a->classes)))
        code = complain(GR_NO_MEMORY, command, "out of host memory for the scores");
    free(labels);
    return code;
}
