// Boxes that a thread orders from TMA, and the barriers in shared memory by which others know of them.
#ifndef BOUNDS_ORDERS_H
#define BOUNDS_ORDERS_H

#include "warp.h"

// What a step does at a barrier in shared memory, into `step`: nothing is counted before count_step. Who asks whether a
// phase is over is to be let go on when it is, and learns that it is. False: not understood.
bool step_phase(struct warp *warp, const struct instruction *it, struct step *step);

// The box that a step orders, into `step`. False: not understood, as one that leaves whose bytes nobody knows.
bool step_box(struct warp *warp, const struct instruction *it, struct step *step);

// The same of bytes that lie side by side.
bool step_run(struct warp *warp, const struct instruction *it, struct step *step);

// Whether a step brings a box: the one that it orders, or one that was ordered before anybody knew its bytes.
bool brings_box(const struct step *step);

// Whether it sends one away.
bool sends_box(const struct step *step);

// Of a warp whose next instruction asks whether a phase of a barrier in shared memory is over: that barrier and the
// phase's parity; else NULL. A barrier that nobody has initialised is none.
struct phase_barrier *asked_barrier(struct warp *warp, int *parity);

// Counts what a step does to barriers in shared memory, at `when`. True: it ended a phase. An error is left in `error`.
bool count_step(struct block *block, const struct step *step, double when, char *error, size_t room);

#endif
