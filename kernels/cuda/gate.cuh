/*
 * gate.cuh - dz = dY [y > 0], the gradient before a ReLU epilogue. It is made once, in scratch, and not in the operands
 * of the two or three products that read it: so these are whole, and copied.
 */
#ifndef GRADUS_GATE_CUH
#define GRADUS_GATE_CUH

#include "kernels/cuda/scratch.cuh"

/* dz[count], dy[count], y[count] */
template <class E> static __global__ void gate(E *dz, const E *dy, const E *y, int64_t count)
{
    for (int64_t i = quad_first(); i < count; i += quad_stride()) {
        quad v = quad_load(dy, i, count);
        const quad gate = quad_load(y, i, count);
        for (int j = 0; j < QUAD; j++)
            v.at[j] = passes(gate.at[j]) ? v.at[j] : 0;
        quad_store(dz, i, count, v, false);
    }
}

/* dz[count]: dy where y is NULL, else taken from exec's scratch. */
template <class E> static const E *gated(gr_exec *exec, const E *dy, const E *y, int64_t count)
{
    if (!y)
        return dy;
    E *dz = take_scratch<E>(exec, count);
    GR_LAUNCH((gate<E>), quad_blocks(count), QUAD_THREADS, 0, exec->queue, dz, dy, y, count);
    return dz;
}

#endif
