/*
 * curand_kernel.h - random numbers in kernels: the generators XORWOW (curandState) and Philox4x32-10, whose bits are
 * those of cuRAND for the same seed, subsequence and offset, and distributions over them. What goes through a
 * logarithm or a sine may differ in the last bits, because a GPU takes fast ones there.
 */
#ifndef GRADUS_CUDA_CURAND_KERNEL_H
#define GRADUS_CUDA_CURAND_KERNEL_H

#include "kernels/simt/cuda/cuda_runtime.h"
#include "kernels/simt/cuda/curand.h"
#include "kernels/simt/cuda/curand_numbers.h"

#define GR__RANDOM static __forceinline__

/* The second of two normal numbers that were made at once. */
struct gr__curand_spare {
    int flag, flag_double; /* GR__SPARE_...: whose it is */
    float extra;
    double extra_double;
};
enum { GR__SPARE_NONE, GR__SPARE_NORMAL, GR__SPARE_LOG_NORMAL };

/* --- XORWOW ------------------------------------------------------------------------------------------------------- */

struct curandStateXORWOW {
    unsigned d, v[5];
    gr__curand_spare spare;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;

GR__RANDOM unsigned curand(curandState *s) { return gr__curand_xorwow(&s->d, s->v); }

/* Subsequences are 2^67 numbers apart. */
GR__RANDOM void skipahead(unsigned long long n, curandState *state)
{
    curandState s = *state;
    gr__cuda_xorwow_jump(s.v, 0, n);
    s.d += 362437 * (unsigned)n;
    *state = s;
}
GR__RANDOM void skipahead_sequence(unsigned long long n, curandState *state)
{
    curandState s = *state;
    gr__cuda_xorwow_jump(s.v, 67, n);
    *state = s;
}
GR__RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandState *state)
{
    curandState s = {};
    gr__cuda_xorwow_seed(seed, &s.d, s.v);
    skipahead_sequence(subsequence, &s);
    skipahead(offset, &s);
    *state = s;
}

/* --- Philox4x32-10 ------------------------------------------------------------------------------------------------ */

struct curandStatePhilox4_32_10 {
    uint4 ctr, output; /* the key's words of the counter */
    uint2 key;
    unsigned STATE; /* how many of them were taken */
    gr__curand_spare spare;
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

GR__RANDOM uint4 curand_Philox4x32_10(uint4 counter, uint2 key)
{
    uint4 out;
    gr__cuda_philox(&counter.x, &key.x, &out.x);
    return out;
}

/* The counter counts blocks of four numbers from x up; subsequences from z up. */
GR__RANDOM void gr__philox_add(unsigned *low, unsigned *high, unsigned long long n)
{
    const unsigned long long sum = (*low | (unsigned long long)*high << 32) + n;
    *low = (unsigned)sum, *high = (unsigned)(sum >> 32);
}
GR__RANDOM void gr__philox_blocks(curandStatePhilox4_32_10 *s, unsigned long long n)
{
    gr__philox_add(&s->ctr.x, &s->ctr.y, n);
    if ((s->ctr.x | (unsigned long long)s->ctr.y << 32) < n)
        gr__philox_add(&s->ctr.z, &s->ctr.w, 1);
    s->output = curand_Philox4x32_10(s->ctr, s->key);
}
GR__RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    curandStatePhilox4_32_10 s = *state;
    const unsigned taken = s.STATE + (unsigned)(n % 4);
    s.STATE = taken % 4;
    gr__philox_blocks(&s, n / 4 + taken / 4);
    *state = s;
}
GR__RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *state)
{
    curandStatePhilox4_32_10 s = *state;
    gr__philox_add(&s.ctr.z, &s.ctr.w, n);
    gr__philox_blocks(&s, 0);
    *state = s;
}
GR__RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                            curandStatePhilox4_32_10 *state)
{
    curandStatePhilox4_32_10 s = {};
    s.key = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    skipahead_sequence(subsequence, &s);
    skipahead(offset, &s);
    *state = s;
}
GR__RANDOM unsigned curand(curandStatePhilox4_32_10 *s)
{
    const unsigned out = (&s->output.x)[s->STATE++ & 3];
    if (s->STATE == 4) {
        s->STATE = 0;
        gr__philox_blocks(s, 1);
    }
    return out;
}
GR__RANDOM uint4 curand4(curandStatePhilox4_32_10 *s)
{
    const unsigned x = curand(s), y = curand(s), z = curand(s), w = curand(s);
    return make_uint4(x, y, z, w);
}

/* --- distributions ------------------------------------------------------------------------------------------------ */

/* In (0, 1]. */
template <class State> GR__RANDOM float curand_uniform(State *s) { return gr__curand_uniform(curand(s)); }
template <class State> GR__RANDOM double gr__curand_53_bits(State *s)
{
    const unsigned low = curand(s), high = curand(s);
    return gr__curand_uniform_double(low, high);
}
GR__RANDOM double curand_uniform_double(curandState *s) { return gr__curand_53_bits(s); }
GR__RANDOM double curand_uniform_double(curandStatePhilox4_32_10 *s) { return curand(s) * 0x1p-32 + 0x1p-32; }
GR__RANDOM float4 curand_uniform4(curandStatePhilox4_32_10 *s)
{
    const uint4 u = curand4(s);
    return make_float4(gr__curand_uniform(u.x), gr__curand_uniform(u.y), gr__curand_uniform(u.z),
                       gr__curand_uniform(u.w));
}
GR__RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10 *s)
{
    const double x = gr__curand_53_bits(s), y = gr__curand_53_bits(s);
    return make_double2(x, y);
}

template <class State> GR__RANDOM float2 curand_normal2(State *s)
{
    float v[2];
    const unsigned x = curand(s), y = curand(s);
    gr__curand_normal(x, y, v);
    return make_float2(v[0], v[1]);
}
template <class State> GR__RANDOM double2 curand_normal2_double(State *s)
{
    double v[2];
    const double x = gr__curand_53_bits(s), y = gr__curand_53_bits(s);
    gr__curand_normal_double(x, y, v);
    return make_double2(v[0], v[1]);
}
GR__RANDOM float4 curand_normal4(curandStatePhilox4_32_10 *s)
{
    const float2 a = curand_normal2(s), b = curand_normal2(s);
    return make_float4(a.x, a.y, b.x, b.y);
}

/*
 * Normal numbers are made in pairs, of which the second waits for the next call. Whether one of a kind waits; if not,
 * it will, and a spare one of the other kind is thrown away.
 */
GR__RANDOM bool gr__curand_is_spare(int *flag, int kind)
{
    const bool there = *flag == kind;
    *flag = there ? GR__SPARE_NONE : kind;
    return there;
}
template <class State> GR__RANDOM float curand_normal(State *s)
{
    if (gr__curand_is_spare(&s->spare.flag, GR__SPARE_NORMAL))
        return s->spare.extra;
    const float2 v = curand_normal2(s);
    s->spare.extra = v.y;
    return v.x;
}
template <class State> GR__RANDOM double curand_normal_double(State *s)
{
    if (gr__curand_is_spare(&s->spare.flag_double, GR__SPARE_NORMAL))
        return s->spare.extra_double;
    const double2 v = curand_normal2_double(s);
    s->spare.extra_double = v.y;
    return v.x;
}
template <class State> GR__RANDOM float curand_log_normal(State *s, float mean, float deviation)
{
    if (gr__curand_is_spare(&s->spare.flag, GR__SPARE_LOG_NORMAL))
        return s->spare.extra;
    const float2 v = curand_normal2(s);
    s->spare.extra = expf(mean + deviation * v.y);
    return expf(mean + deviation * v.x);
}
template <class State> GR__RANDOM double curand_log_normal_double(State *s, double mean, double deviation)
{
    if (gr__curand_is_spare(&s->spare.flag_double, GR__SPARE_LOG_NORMAL))
        return s->spare.extra_double;
    const double2 v = curand_normal2_double(s);
    s->spare.extra_double = exp(mean + deviation * v.y);
    return exp(mean + deviation * v.x);
}

#undef GR__RANDOM

#endif
