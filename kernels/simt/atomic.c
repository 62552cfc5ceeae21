/*
 * atomic.c - atomics and fences. Threads take turns, so a plain read, change and write is atomic, and memory is always
 * in order: only the check build asks whether the program has put it so.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/simt/half.h"
#include "kernels/simt/machine.h"

/* Two's complement of bytes bytes, as a number. */
static int64_t as_signed(uint64_t bits, int bytes)
{
    return bytes == 4 ? (int32_t)bits : (int64_t)bits;
}

static uint64_t add_floats(uint64_t a, uint64_t b, int bytes)
{
    if (bytes == 4)
        return gr__float_bits(gr__float_of((uint32_t)a) + gr__float_of((uint32_t)b));
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return gr__bits_of(x + y);
}

static uint64_t apply(gr__simt_atomic_op op, uint64_t old, uint64_t v, uint64_t expected, int bytes)
{
    switch (op) {
    case GR__SIMT_ADD:
        return old + v;
    case GR__SIMT_ADD_FLOAT:
        return add_floats(old, v, bytes);
    case GR__SIMT_SMALLER:
        return as_signed(v, bytes) < as_signed(old, bytes) ? v : old;
    case GR__SIMT_LARGER:
        return as_signed(v, bytes) > as_signed(old, bytes) ? v : old;
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
    case GR__SIMT_INCREMENT:
        return old >= v ? 0 : old + 1;
    case GR__SIMT_DECREMENT:
        return old == 0 || old > v ? v : old - 1;
    }
    return old;
}

/* Who changes nothing may be waiting for somebody else who will. */
enum { TRIES = 64 };
static void be_patient(gr__simt_machine *m, bool changed, const char *file, int line)
{
    gr__simt_thread *me = m->current;
    me->tries = changed ? 0 : me->tries + 1;
    if (changed)
        m->vain = 0;
    else if (me->tries > TRIES && !gr__simt_let_others_do_it(m, file, line)) {
        char place[512];
        snprintf(place, sizeof place, "%s:%d", gr__simt_short(file), line);
        gr__simt_report_vain(m, place);
    }
}

uint64_t gr__simt_atomic(void *p, int bytes, gr__simt_atomic_op op, uint64_t value, uint64_t expected, const char *file,
                         int line)
{
    gr__simt_machine *m = gr__simt_now;
    uint64_t old = 0;
    if ((uintptr_t)p % (unsigned)bytes)
        gr__simt_report(m, "misaligned: atomic at %s:%d", gr__simt_short(file), line);
    gr__simt_shadow_came(m, p);
    gr__simt_touch_atomic(m, p, (size_t)bytes, op == GR__SIMT_COMPARE_AND_SWAP, file, line);
    memcpy(&old, p, (size_t)bytes);
    const uint64_t changed = apply(op, old, value, expected, bytes);
    memcpy(p, &changed, (size_t)bytes);
    be_patient(m, changed != old, file, line);
    return old;
}

void gr__simt_fence(void)
{
    gr__simt_shadow_fence(gr__simt_now);
}
