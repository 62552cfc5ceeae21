/*
 * trial.h - one call of one kernel in memory of its own: every buffer exactly as long as it must be, between guards.
 */
#ifndef GRADUS_TABLE_TRIAL_H
#define GRADUS_TABLE_TRIAL_H

#include "core/parallel.h"
#include "tests/table/front.h"

enum { TRIAL_SLOTS = GR_MAX_IN + GR_MAX_OUT + GR_MAX_IN + 1 };

typedef struct {
    const row *row;
    row_call shapes;
    gr_call call; /* its tensors are those of buffers, its exec is exec */
    gr_exec exec;
    gr_step_state state;
    gr_device *device; /* whose memory a run's buffers must lie in; NULL: the host's */
    bool tf32;         /* products of floats are to multiply tf32 factors */
    int pieces;        /* or so many pieces of bf16; 0: neither */
    bool emulated;     /* the emulator is to know these buffers, and no other memory, while a kernel runs */
    unsigned arrivals[GR_ARRIVALS]; /* the kernel's to count with; 0 before a run and afterwards */
    struct {
        gr_tensor t;
        unsigned char *block;  /* guard, data, guard */
        unsigned char *before; /* the data before a run */
    } buffers[TRIAL_SLOTS];
} trial;

/* Numbers of the buffers. */
static inline int trial_in(int i)
{
    return i;
}
static inline int trial_out(int i)
{
    return GR_MAX_IN + i;
}
static inline int trial_d_in(int i)
{
    return GR_MAX_IN + GR_MAX_OUT + i;
}
enum { TRIAL_D_OUT = TRIAL_SLOTS - 1 };

/* Buffers for a row in f32 or f64: inputs and dY drawn, results and gradients filled with garbage. */
void trial_open(trial *t, const row *r, const row_call *shapes, gr_type real);
/* The same with halves where ops.def's types have them under mixed precision, and floats elsewhere. */
void trial_open_halves(trial *t, const row *r, const row_call *shapes, gr_type half);
/*
 * Gives the call a copy of in[slot] in halves (gr_call.copy), of garbage, in a buffer that no input has taken; returns
 * which.
 */
int trial_open_copy(trial *t, int slot, gr_type half);
void trial_close(trial *t);

/* Element i of a buffer as a double. */
double trial_get(const trial *t, int buffer, int64_t i);
void trial_set(trial *t, int buffer, int64_t i, double value);
int64_t trial_count(const trial *t, int buffer); /* 0: the row has no such slot */

void trial_garbage(trial *t, int buffer); /* fills with NaN (u8 and i32: a pattern) */
void trial_draw(trial *t, int buffer);    /* fills in[], d_out or, with what may stand there before, d_in[] */
void trial_copy(trial *to, const trial *from, int buffer); /* converts */

/*
 * Runs a pass with scratch of exactly the size asked for, filled with garbage. Returns NULL, or what the kernel did
 * that it must not: wrote outside a buffer or into an input.
 */
const char *trial_run(trial *t, const gr_kernel *kernel, gr_pass pass, struct gr_pool *pool);

#endif
