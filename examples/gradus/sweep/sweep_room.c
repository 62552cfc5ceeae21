/*
 * sweep_room.c - which cells fit beside each other in memory. What a cell takes is known before it begins: its plan,
 * and what this process held when it had read the data, as each cell reads them for itself.
 */
#include <string.h>

#include "find_batch/planned.h"
#include "sweep/job.h"
#include "terminal/memory.h"
#include "terminal/system.h"
#include "terminal/text.h"

static const double SHARE = 0.85; /* of what is free, as 'gradus find-batch' fills it */

/* Bytes that are free where cells compute: on a GPU its own. */
static int64_t free_bytes(const sweep *w)
{
    gr_gpu_info gpu;
    if (w->on_gpu)
        return gr_gpu(gpu_asked(), &gpu, NULL) ? gpu.free : INT64_MAX;
    return memory_available();
}

static int64_t budget_now(const sweep *w)
{
    const int64_t there = free_bytes(w);
    if (w->asked.jobs_memory)
        return w->asked.jobs_memory;
    return there == INT64_MAX ? there : (int64_t)(SHARE * (double)there);
}

/* INT64_MAX where the plan fails: such a cell is left to tell so itself, alone. */
static int64_t bytes_of(const sweep *w, const cell *c)
{
    resolved run = grid_resolve(&w->asked.shared, w->recipe, c);
    run.asked.classes = w->classes;
    const int64_t samples[3] = {w->estimate.train, w->estimate.val, w->estimate.test};
    const int64_t peak = planned_peak(&run, samples, NULL), limit = run.asked.memory_limit;
    if (peak < 0)
        return INT64_MAX;
    return (limit && limit < peak ? limit : peak) + (w->on_gpu ? 0 : w->data_bytes);
}

/* The same for all seeds, so it is worked out once a line of the grid. */
static int64_t need(sweep *w, int number)
{
    int64_t *known = &w->needs[number % grid_lines(&w->grid)];
    const cell c = grid_cell(&w->grid, number);
    if (*known == 0)
        *known = bytes_of(w, &c);
    return *known;
}

/* The first time: it says why fewer cells than asked for are at work. */
static void tell_of_wait(sweep *w, int number, int64_t wanted, int64_t left)
{
    char words[CELL_WORDS], want[32], there[32];
    const cell c = grid_cell(&w->grid, number);
    if (w->waited)
        return;
    w->waited = true;
    progress_line(&w->progress, "%s waits: it takes %s, and beside %d other%s there is room for %s",
                  sweep_cell_words(&c, words, sizeof words), bytes_text((double)wanted, want), w->n_jobs,
                  w->n_jobs == 1 ? "" : "s", bytes_text(left > 0 ? (double)left : 0, there));
}

bool sweep_has_room(sweep *w, int number)
{
    if (w->asked.jobs < 2)
        return w->n_jobs == 0;
    if (w->n_jobs == 0) { /* one by itself may always try: running out of memory is a result */
        w->budget = budget_now(w);
        return true;
    }
    if (w->n_jobs >= w->asked.jobs)
        return false;
    int64_t left = w->budget;
    for (int i = 0; i < w->n_jobs; i++) {
        const int64_t taken = need(w, w->jobs[i]->number);
        left = taken < left ? left - taken : 0;
    }
    const int64_t wanted = need(w, number);
    if (wanted <= left)
        return true;
    if (wanted < INT64_MAX)
        tell_of_wait(w, number, wanted, left);
    return false;
}
