/* score.c - see score.h. */
#include "optim/training/score.h"

#include <stdlib.h>
#include <string.h>

#include "core/tensor.h"

bool gr__score_open(gr_context *ctx, gr_score *score, int64_t counts)
{
    *score = (gr_score){.counts = counts, .total = gr_tensor_new(ctx, gr_real(ctx), 2, (int64_t[]){1 + counts, 2})};
    score->raw = gr__calloc(ctx, (size_t)(1 + counts) * 2, gr_type_size(gr_real(ctx)));
    score->sums = gr__calloc(ctx, (size_t)(1 + counts), sizeof *score->sums);
    return gr_ok(ctx);
}

void gr__score_close(gr_context *ctx, gr_score *score)
{
    if (score->total)
        gr__disown(ctx, score->total);
    free(score->raw);
    free(score->sums);
    *score = (gr_score){0};
}

bool gr__score_clear(gr_score *score)
{
    if (!score->total)
        return false;
    memset(score->raw, 0, gr__bytes(score->total));
    memset(score->sums, 0, (size_t)(1 + score->counts) * sizeof *score->sums);
    return gr_upload(score->total, score->raw);
}

bool gr__score_read(gr_score *score)
{
    if (!gr_download(score->total, score->raw))
        return false;
    const float *f = score->raw;
    const double *d = score->raw;
    for (int64_t i = 0; i <= score->counts; i++)
        score->sums[i] =
            score->total->type == GR_F64 ? d[2 * i] + d[2 * i + 1] : (double)f[2 * i] + (double)f[2 * i + 1];
    return true;
}
