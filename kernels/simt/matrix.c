/*
 * matrix.c - ldmatrix and mma.sync on the registers of a warp. Layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16"
 * (and k8 for tf32); g = lane / 4, t = lane % 4. How the products are added is told in tensor_core.c.
 */
#include <string.h>

#include "kernels/simt/half.h"
#include "kernels/simt/machine.h"
#include "kernels/simt/tensor_core.h"

void gr__simt_do_ldmatrix(gr__simt_machine *m, gr__simt_thread *lane, bool transposed, const char *file, int line)
{
    uint16_t matrix[4][8][8];
    for (int l = 0; l < GR__SIMT_LANES; l++) {
        const void *row = ((const gr__simt_ldmatrix *)lane[l].argument)->row;
        if (!gr__simt_in_shared(m, row))
            gr__simt_report(m, "address: ldmatrix at %s:%d, lane %d: not shared memory", gr__simt_short(file), line, l);
        if ((uintptr_t)row % 16)
            gr__simt_report(m, "misaligned: ldmatrix at %s:%d, lane %d: the row is no multiple of 16",
                            gr__simt_short(file), line, l);
        gr__simt_touch(m, &lane[l], row, sizeof matrix[0][0], false, file, line);
        memcpy(matrix[l / 8][l % 8], row, sizeof matrix[0][0]);
    }
    for (int l = 0; l < GR__SIMT_LANES; l++) {
        uint32_t *r = ((const gr__simt_ldmatrix *)lane[l].argument)->r;
        const int g = l / 4, t = 2 * (l % 4);
        for (int i = 0; i < 4; i++) {
            const uint16_t low = transposed ? matrix[i][t][g] : matrix[i][g][t];
            const uint16_t high = transposed ? matrix[i][t + 1][g] : matrix[i][g][t + 1];
            r[i] = low | (uint32_t)high << 16;
        }
    }
}

static float half_of(uint32_t pair, int i, bool bf16)
{
    const uint16_t bits = (uint16_t)(pair >> 16 * i);
    return bf16 ? gr__bf16_to_float(bits) : gr__half_to_float(bits);
}

/* m16n8k16: each register holds neighbours along k. */
static void gather_16bit(gr__simt_factors *f, const gr__simt_thread *lane, bool bf16)
{
    for (int l = 0; l < GR__SIMT_LANES; l++) {
        const gr__simt_mma *x = lane[l].argument;
        const int g = l / 4, t = 2 * (l % 4);
        for (int i = 0; i < 2; i++) {
            f->a[g][t + i] = half_of(x->a[0], i, bf16);
            f->a[g + 8][t + i] = half_of(x->a[1], i, bf16);
            f->a[g][t + 8 + i] = half_of(x->a[2], i, bf16);
            f->a[g + 8][t + 8 + i] = half_of(x->a[3], i, bf16);
            f->b[t + i][g] = half_of(x->b[0], i, bf16);
            f->b[t + 8 + i][g] = half_of(x->b[1], i, bf16);
        }
    }
}

/* m16n8k8 of tf32: a float without its last 13 bits. */
static void gather_tf32(gr__simt_factors *f, const gr__simt_thread *lane)
{
    const uint32_t kept = 0xFFFFE000;
    for (int l = 0; l < GR__SIMT_LANES; l++) {
        const gr__simt_mma *x = lane[l].argument;
        const int g = l / 4, t = l % 4;
        f->a[g][t] = gr__float_of(x->a[0] & kept);
        f->a[g + 8][t] = gr__float_of(x->a[1] & kept);
        f->a[g][t + 4] = gr__float_of(x->a[2] & kept);
        f->a[g + 8][t + 4] = gr__float_of(x->a[3] & kept);
        f->b[t][g] = gr__float_of(x->b[0] & kept);
        f->b[t + 4][g] = gr__float_of(x->b[1] & kept);
    }
}

/* d's registers, or back. */
static void sums(float sum[GR__TENSOR_M][GR__TENSOR_N], const gr__simt_thread *lane, bool back)
{
    for (int l = 0; l < GR__SIMT_LANES; l++) {
        float *d = ((const gr__simt_mma *)lane[l].argument)->d;
        const int g = l / 4, t = 2 * (l % 4);
        for (int r = 0; r < 4; r++) {
            float *there = &sum[g + 8 * (r / 2)][t + r % 2];
            if (back)
                d[r] = *there;
            else
                *there = d[r];
        }
    }
}

void gr__simt_do_mma(gr__simt_thread *lane, gr__simt_collective op)
{
    gr__simt_factors f;
    float sum[GR__TENSOR_M][GR__TENSOR_N];
    if (op == GR__SIMT_MMA_TF32)
        gather_tf32(&f, lane);
    else
        gather_16bit(&f, lane, op == GR__SIMT_MMA_BF16);
    sums(sum, lane, false);
    gr__simt_tensor_core(sum, &f, op, gr__simt_now->tensor_cores);
    sums(sum, lane, true);
}
