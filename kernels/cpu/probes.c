/* probes.c - the limits of an instruction set: multiply-adds in registers, reading and copying memory. */
#include "kernels/cpu/cpu.h"

/*
 * Chains of dependent multiply-adds, enough to fill the latency (4 cycles) of two units, few enough for 16 registers;
 * without a fused instruction a product and a sum have twice that latency.
 */
enum { CHAINS = 12, ROUNDS = 1 << 17 };
enum { LOADS = 8 }; /* independent sums of a read */

typedef struct {
    const float *src; /* [count] */
    int64_t count, parts;
    int times;     /* over all of src */
    float *result; /* [64][VL]: the last writers' sums; what is in it means nothing */
} job;

static void keep(const job *j, int64_t part, const vec *v, int n)
{
    vec sum = v[0];
    for (int i = 1; i < n; i++)
        sum += v[i];
    vec_store(j->result + part % 64 * VL, sum);
}

static void multiply_add(void *arg, int64_t part)
{
    const job *j = arg;
    vec v[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        v[i] = vec_all((float)i);
    const vec half = vec_load(j->src),
              one = vec_load(j->src + VL); /* from memory: nothing can be computed beforehand */
    for (int64_t round = 0; round < ROUNDS; round++) {
        UNROLL for (int i = 0; i < CHAINS; i++) v[i] = v[i] * half + one;
    }
    keep(j, part, v, CHAINS);
}

static double arithmetic(const gr_exec *exec, void *result)
{
    vec factors[2] = {vec_all(0.5f), vec_all(1.0f)}; /* towards 2: never too large, never denormal */
    job j = {(const float *)factors, 0, gr__pool_threads(exec->pool), 1, result};
    gr_parallel_for(exec, j.parts, multiply_add, &j);
    return 2.0 * VL * CHAINS * ROUNDS * (double)j.parts;
}

static void add_up(void *arg, int64_t part)
{
    const job *j = arg;
    const span s = part_of(j->count / (LOADS * VL), part, j->parts);
    vec v[LOADS] = {0};
    for (int turn = 0; turn < j->times; turn++)
        for (int64_t i = s.begin; i < s.end; i++) {
            UNROLL for (int k = 0; k < LOADS; k++) v[k] += vec_load(j->src + (i * LOADS + k) * VL);
        }
    keep(j, part, v, LOADS);
}

static void read_all(const gr_exec *exec, const void *src, size_t bytes, int times, void *result)
{
    job j = {src, (int64_t)(bytes / sizeof(float)), gr__pool_threads(exec->pool), times, result};
    gr_parallel_for(exec, j.parts, add_up, &j);
}

typedef struct {
    const float *src; /* [count] */
    float *dst;       /* [count] */
    int64_t count, parts;
    int times;
} copy_job;

/* Past the caches: an ordinary store would first read what it overwrites. */
static void copy_part(void *arg, int64_t part)
{
    const copy_job *j = arg;
    const span s = part_of(j->count / (LOADS * VL), part, j->parts);
    for (int turn = 0; turn < j->times; turn++)
        for (int64_t i = s.begin * LOADS * VL; i < s.end * LOADS * VL; i += LOADS * VL) {
            UNROLL for (int k = 0; k < LOADS; k++) vec_stream(j->dst + i + k * VL, vec_load(j->src + i + k * VL));
        }
}

/* Into the caches: faster where both buffers fit into one. */
static void copy_part_cached(void *arg, int64_t part)
{
    const copy_job *j = arg;
    const span s = part_of(j->count / (LOADS * VL), part, j->parts);
    for (int turn = 0; turn < j->times; turn++)
        for (int64_t i = s.begin * LOADS * VL; i < s.end * LOADS * VL; i += LOADS * VL) {
            UNROLL for (int k = 0; k < LOADS; k++) vec_store(j->dst + i + k * VL, vec_load(j->src + i + k * VL));
        }
}

static void copy_all(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times)
{
    copy_job j = {src, dst, (int64_t)(bytes / sizeof(float)), gr__pool_threads(exec->pool), times};
    gr_parallel_for(exec, j.parts, copy_part, &j);
}

static void copy_all_cached(const gr_exec *exec, void *dst, const void *src, size_t bytes, int times)
{
    copy_job j = {src, dst, (int64_t)(bytes / sizeof(float)), gr__pool_threads(exec->pool), times};
    gr_parallel_for(exec, j.parts, copy_part_cached, &j);
}

const gr_probes GR_CPU(probes) = {arithmetic, read_all, copy_all, copy_all_cached};
