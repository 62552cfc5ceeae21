/* answers.c - see answers.h. */
#include "evaluate/answers.h"

#include <stdio.h>
#include <stdlib.h>

#include "predict/doubles.h"
#include "predict/probabilities.h"
#include "terminal/complain.h"
#include "terminal/stop.h"

/* Adds a share of those of a batch, whose first sample is number first. False: the context tells, or no memory. */
static bool add_batch(answers *a, double share, gr_tensor *z, int64_t first, int64_t rows, int64_t n)
{
    const int logits = (int)gr_dim(z, 1), classes = probabilities_classes(logits);
    if (!a->p) {
        a->classes = classes;
        a->p = calloc((size_t)n * (size_t)classes, sizeof *a->p);
    }
    double *values = malloc((size_t)gr_count(z) * sizeof *values);
    double *p = malloc((size_t)classes * sizeof *p);
    const bool good = a->p && values && p && doubles_of(z, values);
    for (int64_t row = 0; good && row < rows; row++) {
        a->bad += !probabilities_of(values + row * logits, logits, p);
        for (int i = 0; i < classes; i++)
            a->p[(first + row) * classes + i] += share * p[i];
    }
    free(values);
    free(p);
    return good;
}

/* One pass over a set, whose answers have that share in the mean. Returns 0 or an exit code. */
static int add(gr_context *ctx, gr_module *net, gr_dataset *set, double share, int64_t most, const char *command,
               answers *a)
{
    const int64_t n = gr_dataset_size(set);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = n < most ? n : most, .order = GR_IN_ORDER});
    gr_batch batch;
    bool good = true;
    const bool recorded = gr_record(ctx, false);
    for (int64_t at = 0; good && at < n && !stop_asked() && gr_loader_next(loader, &batch); at += batch.samples) {
        gr_tensor *z = gr_cast(gr_forward(net, batch.x), gr_real(ctx)); /* of halves under mixed precision */
        good = z && add_batch(a, share, z, at, batch.samples, n);
        gr_step_end(ctx);
    }
    gr_loader_close(loader);
    gr_record(ctx, recorded);
    if (!gr_ok(ctx))
        return complain_of(ctx, command);
    if (stop_asked())
        return GR_STOPPED;
    if (a->bad)
        return complain(GR_NUMERIC, command,
                        "the network's answer to %lld of %lld samples is no number: its weights went bad",
                        (long long)a->bad, (long long)n);
    return good ? 0
                : complain(GR_NO_MEMORY, command, "out of host memory for the answers of %lld samples", (long long)n);
}

/* The pictures moved by that many pixels down and to the right, mirrored or not. */
static int add_view(gr_context *ctx, gr_module *net, gr_dataset *set, int64_t shift, bool mirrored, double share,
                    int64_t batch, const char *command, answers *a)
{
    char plan[64];
    snprintf(plan, sizeof plan, "%sshift=%lld:%lld,fill=reflect", mirrored ? "flip=always," : "", (long long)shift,
             (long long)shift);
    gr_dataset *view = shift == 0 && !mirrored ? set : gr_augmented(set, plan);
    return view ? add(ctx, net, view, share, batch, command, a) : complain_of(ctx, command);
}

int answers_of_views(gr_context *ctx, gr_module *net, gr_dataset *set, const views *seen, int64_t batch,
                     const char *command, answers *a)
{
    const int64_t shifts[] = {0, -seen->shift, seen->shift};
    int code = 0;
    for (int i = 0; code == 0 && i < (seen->shift ? 3 : 1); i++)
        for (int mirrored = 0; code == 0 && mirrored <= seen->flip; mirrored++) {
            const double share = (i > 0 ? 0.25 : seen->shift ? 0.5 : 1) / (seen->flip ? 2 : 1);
            code = add_view(ctx, net, set, shifts[i], mirrored, share, batch, command, a);
        }
    return code;
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

double answers_accuracy(const answers *a, const gr_dataset *set)
{
    const int64_t n = gr_dataset_size(set);
    int64_t right = 0;
    for (int64_t i = 0; i < n; i++)
        right += scores_answer(a->p + i * a->classes, a->classes) == gr_dataset_label(set, i);
    return (double)right / (double)n;
}
