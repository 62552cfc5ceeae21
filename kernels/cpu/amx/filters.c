/* filters.c - see filters.h. */
#include "kernels/cpu/amx/filters.h"

typedef struct {
    const gr_tensor *w;
    int64_t k, taps, depth; /* filters, and what they are made of */
    phase_taps rows, cols;  /* turned */
    uint16_t *packed;
} pack_job;

/* to[0..n) = elements of w from `at` on, in bf16; zeros up to `width`, a multiple of STEP */
INLINE void round_row(const gr_tensor *w, int64_t at, int64_t n, uint16_t *to, int64_t width)
{
    if (w->type != GR_F32) {
        for (int64_t i = 0; i < width; i += STEP)
            step_copy((const uint16_t *)w->data + at + i, to + i, n - i);
        return;
    }
    for (int64_t i = 0; i < width; i += VL)
        to_bf16(to + i, vec_load_n((const float *)w->data + at + i, max64(0, min64(VL, n - i))));
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

enum { SPAN = 512 /* channels that are rounded at a time */ };

/* Channels c of tap (r, s) of the filters k and k + 1, to panels that lie at a distance from each other. */
static void pack_pair(const pack_job *job, int64_t k, int64_t r, int64_t s, span c, uint16_t *to, int64_t distance)
{
    const int64_t *shape = job->w->shape; /* [K,R,S,C] */
    const int64_t n = c.end - c.begin, width = round_up(n, BLOCK);
    uint16_t two[2][SPAN];
    for (int64_t j = 0; j < 2; j++) {
        const bool there = k + j < job->k;
        const int64_t at = (((k + j) * shape[1] + r) * shape[2] + s) * shape[3] + c.begin;
        round_row(job->w, there ? at : 0, there ? n : 0, two[j], width);
    }
    for (int64_t i = 0; i < width; i += BLOCK, to += distance) {
        pair_up(two[0] + i, two[1] + i, to, TILE);
        pair_up(two[0] + i + TILE, two[1] + i + TILE, to + B_STEP / 2, TILE);
    }
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
        uint16_t *to = job->packed + (tap * steps + chunk) * B_STEP + pair * STEP;
        for (int64_t c = 0; c < channels; c += SPAN)
            pack_pair(job, chunk * STEP + 2 * pair, r, s, (span){c, min64(channels, c + SPAN)},
                      to + c / BLOCK * distance, distance);
    }
}

void filters_pack_turned(const gr_exec *exec, const gr_tensor *w, phase_taps rows, phase_taps cols, uint16_t *packed)
{
    pack_job job = {
        .w = w, .k = w->shape[0], .taps = rows.count * cols.count, .rows = rows, .cols = cols, .packed = packed};
    if (job.taps > 0)
        gr_parallel_for(exec, ceil_div(job.k, STEP), pack_turned_chunk, &job);
}
