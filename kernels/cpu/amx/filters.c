/* filters.c - see filters.h. */
#include "kernels/cpu/amx/filters.h"

#include "kernels/cpu/dense_half.h"

typedef struct {
    const gr_tensor *w;
    int64_t k, taps, depth; /* filters, and what they are made of */
    phase_taps rows, cols;  /* turned */
    uint16_t *packed;
} pack_job;

/* to[0..n) = elements of w from `at` on, in bf16; zeros up to `width` */
static void round_row(const gr_tensor *w, int64_t at, int64_t n, uint16_t *to, int64_t width)
{
    const char *from = (const char *)w->data + (size_t)at * gr_type_size(w->type);
    GR_CPU(convert)(GR_BF16, to, w->type, from, n);
    memset(to + n, 0, (size_t)(width - n) * sizeof *to);
}

/* Chunk (panel, tap). A filter's channels lie side by side: pairs of them change places with filters. */
static void pack_chunk(void *arg, int64_t chunk)
{
    const pack_job *job = arg;
    const int64_t panel = chunk / job->taps, tap = chunk % job->taps, steps = ceil_div(job->depth, STEP);
    uint16_t *packed = job->packed + chunk * steps * B_STEP;
    uint16_t rows[TILE * STEP] __attribute__((aligned(64)));
    for (int64_t i = 0; i < 2 * steps; i++, packed += TILE * STEP) {
        const int64_t d = i / 2 * STEP, first = panel * BLOCK + i % 2 * TILE;
        for (int64_t k = 0; k < TILE; k++) {
            const int64_t n = first + k < job->k ? min64(STEP, job->depth - d) : 0;
            round_row(job->w, n ? ((first + k) * job->taps + tap) * job->depth + d : 0, n, rows + k * STEP, STEP);
        }
        transpose((const float *)rows, TILE, TILE, TILE, (float *)packed, TILE);
    }
}

void filters_pack(const gr_exec *exec, const gr_tensor *w, int64_t taps, uint16_t *packed)
{
    pack_job job = {.w = w, .k = w->shape[0], .taps = taps, .depth = w->count / w->shape[0] / taps, .packed = packed};
    gr_parallel_for(exec, ceil_div(job.k, BLOCK) * taps, pack_chunk, &job);
}

/* Chunk (panel, tap): filters in pairs. */
static void pack_turned_chunk(void *arg, int64_t chunk)
{
    const pack_job *job = arg;
    const int64_t *shape = job->w->shape; /* [K,R,S,C] */
    const int64_t panel = chunk / job->taps, tap = chunk % job->taps, steps = ceil_div(job->k, STEP);
    const int64_t r = job->rows.first + (job->rows.count - 1 - tap / job->cols.count) * job->rows.stride;
    const int64_t s = job->cols.first + (job->cols.count - 1 - tap % job->cols.count) * job->cols.stride;
    const int64_t c = panel * BLOCK, n = min64(BLOCK, shape[3] - c);
    uint16_t *packed = job->packed + chunk * steps * B_STEP;
    uint16_t two[2][BLOCK];
    for (int64_t k = 0; k < steps * STEP; k += 2) {
        for (int64_t i = 0; i < 2; i++) {
            const int64_t at = (((k + i) * shape[1] + r) * shape[2] + s) * shape[3] + c;
            round_row(job->w, k + i < job->k ? at : 0, k + i < job->k ? n : 0, two[i], BLOCK);
        }
        uint16_t *pair = packed + k / STEP * B_STEP + k % STEP / 2 * STEP;
        pair_up(two[0], two[1], pair, TILE);
        pair_up(two[0] + TILE, two[1] + TILE, pair + B_STEP / 2, TILE);
    }
}

void filters_pack_turned(const gr_exec *exec, const gr_tensor *w, phase_taps rows, phase_taps cols, uint16_t *packed)
{
    pack_job job = {
        .w = w, .k = w->shape[0], .taps = rows.count * cols.count, .rows = rows, .cols = cols, .packed = packed};
    gr_parallel_for(exec, ceil_div(w->shape[3], BLOCK) * job.taps, pack_turned_chunk, &job);
}
