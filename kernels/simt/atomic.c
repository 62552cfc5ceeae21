/* atomic.c - atomics. Threads take turns, so a plain read, change and write is atomic. */
#include <string.h>

#include "kernels/simt/half.h"
#include "kernels/simt/machine.h"

static uint32_t apply32(gr__simt_atomic_op op, uint32_t old, uint32_t v, uint32_t expected)
{
    switch (op) {
    case GR__SIMT_ADD:
        return old + v;
    case GR__SIMT_ADD_FLOAT:
        return gr__float_bits(gr__float_of(old) + gr__float_of(v));
    case GR__SIMT_SMALLER:
        return (int32_t)v < (int32_t)old ? v : old;
    case GR__SIMT_LARGER:
        return (int32_t)v > (int32_t)old ? v : old;
    case GR__SIMT_SMALLER_UNSIGNED:
        return v < old ? v : old;
    case GR__SIMT_LARGER_UNSIGNED:
        return v > old ? v : old;
    case GR__SIMT_AND:
        return old & v;
    case GR__SIMT_OR:
        return old | v;
    case GR__SIMT_XOR_BITS:
        return old ^ v;
    case GR__SIMT_EXCHANGE:
        return v;
    case GR__SIMT_COMPARE_AND_SWAP:
        return old == expected ? v : old;
    }
    return old;
}

uint64_t gr__simt_atomic(void *p, int bytes, gr__simt_atomic_op op, uint64_t value, uint64_t expected, const char *file,
                         int line)
{
    gr__simt_machine *m = gr__simt_now;
    if ((uintptr_t)p % (unsigned)bytes)
        gr__simt_report(m, "misaligned: atomic at %s:%d", gr__simt_short(file), line);
    gr__simt_touch_atomic(m, p, (size_t)bytes, file, line);
    if (bytes == 8) { /* atomicAdd alone */
        uint64_t old;
        memcpy(&old, p, sizeof old);
        memcpy(p, &(uint64_t){old + value}, sizeof old);
        return old;
    }
    uint32_t old;
    memcpy(&old, p, sizeof old);
    const uint32_t changed = apply32(op, old, (uint32_t)value, (uint32_t)expected);
    memcpy(p, &changed, sizeof changed);
    return old;
}
