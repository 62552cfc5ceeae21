/*
 * dropout.c - dropout, the generator running in lanes: LANES blocks of Philox side by side, four elements a block.
 *
 * A word of 32 bits lies in the lower half of a lane of 64, as the products want it; what is above it is garbage.
 */
#include "kernels/ops/dropout.h"
#include "kernels/cpu/cpu.h"

enum { LANES = VL / 2, GROUP = 4 * LANES /* elements drawn together */, CHUNK = 512 * GROUP };

/* gr__philox on LANES counters. */
static void philox(lvec c[4], uint32_t k0, uint32_t k1)
{
    const lvec m0 = (lvec){0} + 0xD2511F53u, m1 = (lvec){0} + 0xCD9E8D57u;
    for (int round = 0; round < 10; round++) {
        const lvec p0 = lvec_product(m0, c[0]), p1 = lvec_product(m1, c[2]);
        c[0] = p1 >> 32 ^ c[1] ^ k0;
        c[1] = p1;
        c[2] = p0 >> 32 ^ c[3] ^ k1;
        c[3] = p0;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}

/* What one call multiplies by. */
typedef struct {
    uint32_t key[2], micro_batch, draw;
    int threshold; /* of the upper 24 bits */
    float kept;    /* 1 / (1 - rate) */
} plan;

static plan plan_of(const gr_call *call)
{
    const gr_step_state *state = call->exec->state;
    const gr__dropout_args *args = call->options;
    return (plan){.key = {(uint32_t)state->seed, (uint32_t)(state->seed >> 32)},
                  .micro_batch = (uint32_t)state->draws,
                  .draw = args->draw,
                  .threshold = (int)gr__dropout_threshold(args->rate),
                  .kept = (float)(1 / (1 - args->rate))};
}

/* Factors of the words in even and odd places: two words a lane. */
INLINE vec factors_of(const plan *f, lvec even, lvec odd)
{
    const lvec bits = (even >> 8 & 0xFFFFFFu) | (odd >> 8 & 0xFFFFFFu) << 32;
    return (vec)(((ivec)bits >= f->threshold) & (ivec)vec_all(f->kept));
}

/* Factors of the elements first .. first + GROUP - 1, first a multiple of 4. */
INLINE void draw(const plan *f, int64_t first, float factors[GROUP])
{
    uint64_t blocks[LANES];
    for (int i = 0; i < LANES; i++)
        blocks[i] = (uint64_t)(first / 4 + i);
    lvec c[4] = {{0}, (lvec){0} + f->micro_batch, (lvec){0} + f->draw, (lvec){0} + GR_RNG_DROPOUT};
    memcpy(c, blocks, sizeof blocks);
    philox(c, f->key[0], f->key[1]);
    const vec front = factors_of(f, c[0], c[1]), back = factors_of(f, c[2], c[3]);
    for (int i = 0; i < LANES; i++) {
        memcpy(factors + 4 * i, (const float *)&front + 2 * i, 2 * sizeof(float));
        memcpy(factors + 4 * i + 2, (const float *)&back + 2 * i, 2 * sizeof(float));
    }
}

/* to = from f, or to += from f, over one chunk. Forward and backward are the same. */
static void scale_chunk(const gr_call *call, const float *from, float *to, bool accumulate, int64_t chunk)
{
    const plan f = plan_of(call);
    const int64_t end = min64(call->in[0]->count, (chunk + 1) * CHUNK);
    for (int64_t first = chunk * CHUNK; first < end; first += GROUP) {
        float factors[GROUP];
        draw(&f, first, factors);
        for (int64_t i = first; i < min64(end, first + GROUP); i += VL) {
            const int64_t n = min64(VL, end - i);
            const vec v = vec_load_n(from + i, n) * vec_load(factors + (i - first));
            vec_store_n(to + i, accumulate ? vec_load_n(to + i, n) + v : v, n);
        }
    }
}

static void forward_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    scale_chunk(call, gr__f32(call->in[0]), gr__f32(call->out[0]), false, chunk);
}

void GR_CPU(dropout_forward)(const gr_call *call)
{
    gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), forward_chunk, (void *)call);
}

static void backward_chunk(void *arg, int64_t chunk)
{
    const gr_call *call = arg;
    scale_chunk(call, gr__f32(call->d_out[0]), gr__f32(call->d_in[0]), call->accumulate & 1, chunk);
}

void GR_CPU(dropout_backward)(const gr_call *call)
{
    if (call->d_in[0])
        gr_parallel_for(call->exec, ceil_div(call->in[0]->count, CHUNK), backward_chunk, (void *)call);
}
