/*
 * amx_trap.h - tile instructions on a processor without them: the signal that it answers them with is caught, and the
 * instruction is decoded and done by the kernels' twin. So the very code that a processor with tiles runs is tested
 * anywhere - registers, strides, encodings - but for what its arithmetic gives.
 */
#ifndef GRADUS_AMX_TRAP_H
#define GRADUS_AMX_TRAP_H

#if defined(__x86_64__)
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <ucontext.h>

#include "core/float_mode.h"
#include "kernels/cpu/amx/twin.h"

static _Thread_local twin_tile trap_tiles[8];
static _Thread_local bool trap_configured;
static atomic_int trap_configurations; /* tiles set up and not yet released, in all threads */
static atomic_int trap_count;

static int64_t *trap_register(mcontext_t *m, int number)
{
    static const int places[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
                                   REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    return (int64_t *)&m->gregs[places[number]];
}

/* An instruction with a three-byte VEX prefix, taken apart. */
typedef struct {
    int prefix, opcode, mod, reg, rm, vvvv, length; /* prefix 0: none, 1: 66, 2: F3, 3: F2 */
    char *base;                                     /* of the memory operand, and */
    int64_t index;                                  /* the stride behind it */
} trap_code;

/* The memory operand at p, behind ModRM; its length. */
static int trap_operand(trap_code *c, mcontext_t *m, const uint8_t *p, int rex_x, int rex_b, const uint8_t *next)
{
    int length = 0, base = c->rm | rex_b << 3;
    c->index = 0;
    if (c->rm == 4) {
        const int sib = p[length++], index = (sib >> 3 & 7) | rex_x << 3;
        base = (sib & 7) | rex_b << 3;
        c->index = index == 4 ? 0 : *trap_register(m, index) << (sib >> 6);
    }
    int64_t displacement = 0;
    if (c->mod == 1)
        displacement = (int8_t)p[length++];
    const bool relative = c->mod == 0 && c->rm == 5; /* to the next instruction */
    if (c->mod == 2 || relative) {
        int32_t d;
        memcpy(&d, p + length, sizeof d);
        displacement = d;
        length += 4;
    }
    c->base = (char *)(relative ? (int64_t)(next + length) : *trap_register(m, base)) + displacement;
    return length;
}

/* False: not one of the instructions that are known here. */
static bool trap_decode(trap_code *c, mcontext_t *m)
{
    const uint8_t *p = (const uint8_t *)m->gregs[REG_RIP];
    if (p[0] != 0xC4 || (p[1] & 31) != 2 || (p[2] & 0x84) != 0) /* VEX.128.0F38.W0 */
        return false;
    *c = (trap_code){.prefix = p[2] & 3, .opcode = p[3], .mod = p[4] >> 6, .reg = p[4] >> 3 & 7, .rm = p[4] & 7};
    c->vvvv = ~p[2] >> 3 & 15;
    c->length = 5;
    if (c->mod != 3)
        c->length += trap_operand(c, m, p + 5, ~p[1] >> 6 & 1, ~p[1] >> 5 & 1, p + 5);
    return true;
}

/* ldtilecfg with all registers of 16 rows of 64 bytes, as the kernels want them; nothing else is known here. */
static bool trap_configure(const uint8_t *shapes)
{
    bool good = shapes[0] == 1 && shapes[1] == 0 && !trap_configured;
    for (int i = 0; i < 8; i++)
        good &= shapes[16 + 2 * i] == 64 && shapes[17 + 2 * i] == 0 && shapes[48 + i] == 16;
    trap_configured = true;
    atomic_fetch_add(&trap_configurations, 1);
    return good;
}

static bool trap_release(void)
{
    atomic_fetch_sub(&trap_configurations, 1);
    const bool was = trap_configured;
    trap_configured = false;
    return was;
}

static bool trap_run(const trap_code *c)
{
    enum { NONE = 0, P66 = 1, F3 = 2, F2 = 3 };
    if (c->opcode == 0x49 && c->prefix == NONE)
        return c->mod == 3 ? trap_release() : trap_configure((const uint8_t *)c->base);
    if (!trap_configured)
        return false;
    if (c->opcode == 0x49 && c->prefix == F2)
        twin_zero(&trap_tiles[c->reg]);
    else if (c->opcode == 0x4B && (c->prefix == F2 || c->prefix == P66)) /* the second: read once */
        twin_load(&trap_tiles[c->reg], c->base, c->index);
    else if (c->opcode == 0x4B && c->prefix == F3)
        twin_store(c->base, c->index, &trap_tiles[c->reg]);
    else if (c->opcode == 0x5C && c->prefix == F3 && c->mod == 3)
        twin_dot(&trap_tiles[c->reg], &trap_tiles[c->rm], &trap_tiles[c->vvvv]);
    else
        return false;
    return true;
}

static void trap_handler(int number, siginfo_t *info, void *context)
{
    (void)info;
    (void)gr__float_mode_begin(); /* a handler begins in the mode of a new process; the thread finds its own again */
    mcontext_t *m = &((ucontext_t *)context)->uc_mcontext;
    trap_code c;
    if (!trap_decode(&c, m) || !trap_run(&c)) {
        signal(number, SIG_DFL); /* and once more, for good */
        return;
    }
    m->gregs[REG_RIP] += c.length;
    atomic_fetch_add(&trap_count, 1);
}

static void trap_open(void)
{
    struct sigaction action = {.sa_sigaction = trap_handler, .sa_flags = SA_SIGINFO};
    sigaction(SIGILL, &action, NULL);
}
#endif

#endif
