/* filters.c - see filters.h. */
#include "kernels/cpu/amx/filters.h"

#include "kernels/cpu/amx/weights.h"

typedef struct {
    const gr_tensor *w;
    int64_t k, taps, depth; /* filters, and what they are made of */
    phase_taps rows, cols;  /* turned */
    int pieces;
    int64_t piece; /* halves of one */
    uint16_t *packed;
} pack_job;

/* Chunk (panel, tap). A filter's channels lie side by side: pairs of them change places with filters. */
static void pack_chunk(void *arg, int64_t chunk)
{
    const pack_job *job = arg;
    const int64_t panel = chunk / job->taps, tap = chunk % job->taps, steps = ceil_div(job->depth, STEP);
    uint16_t *packed = job->packed + chunk * steps * B_STEP;
    uint16_t rows[MOST_PIECES][TILE * STEP] __attribute__((aligned(64)));
    for (int64_t i = 0; i < 2 * steps; i++, packed += TILE * STEP) {
        const int64_t d = i / 2 * STEP, first = panel * BLOCK + i % 2 * TILE;
        for (int64_t k = 0; k < TILE; k++) {
            const int64_t n = first + k < job->k ? min64(STEP, job->depth - d) : 0;
            weights_row(job->w, n ? ((first + k) * job->taps + tap) * job->depth + d : 0, n, rows[0] + k * STEP, STEP,
                        job->pieces, TILE * STEP);
        }
        for (int p = 0; p < job->pieces; p++)
            transpose((const float *)rows[p], TILE, TILE, TILE, (float *)(packed + p * job->piece), TILE);
    }
}

void filters_pack(const gr_exec *exec, const gr_tensor *w, int64_t taps, int pieces, uint16_t *packed)
{
    pack_job job = {.w = w,
                    .k = w->shape[0],
                    .taps = taps,
                    .depth = w->count / w->shape[0] / taps,
                    .pieces = pieces,
                    .packed = packed};
    job.piece = filters_halves(job.k, taps, job.depth);
    gr_parallel_for(exec, ceil_div(job.k, BLOCK) * taps, pack_chunk, &job);
}

/* Chunk: the filters of a step, in pairs, each read once from end to end. */
static void pack_turned_chunk(void *arg, int64_t chunk)
{
    const pack_job *job = arg;
    const int64_t steps = ceil_div(job->k, STEP), distance = job->taps * steps * B_STEP, channels = job->w->shape[3];
    for (int64_t i = 0; i < TILE * job->taps; i++) {
        const int64_t pair = i / job->taps, tap = i % job->taps;
        const int64_t r = job->rows.first + (job->rows.count - 1 - tap / job->cols.count) * job->rows.stride;
        const int64_t s = job->cols.first + (job->cols.count - 1 - tap % job->cols.count) * job->cols.stride;
        const int64_t k = chunk * STEP + 2 * pair, filter = job->w->shape[1] * job->w->shape[2] * channels;
        const int64_t at = k * filter + (r * job->w->shape[2] + s) * channels;
        weights_pair(
            job->w, k < job->k ? at : -1, k + 1 < job->k ? at + filter : -1, channels,
            (pair_rows){job->packed + (tap * steps + chunk) * B_STEP + pair * STEP, distance, job->piece, job->pieces});
    }
}

void filters_pack_turned(const gr_exec *exec, const gr_tensor *w, phase_taps rows, phase_taps cols, int pieces,
                         uint16_t *packed)
{
    pack_job job = {.w = w,
                    .k = w->shape[0],
                    .taps = rows.count * cols.count,
                    .rows = rows,
                    .cols = cols,
                    .pieces = pieces,
                    .packed = packed};
    job.piece = filters_halves(w->shape[3], job.taps, job.k);
    if (job.taps > 0)
        gr_parallel_for(exec, ceil_div(job.k, STEP), pack_turned_chunk, &job);
}
