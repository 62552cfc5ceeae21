/* sweep_cells.c - the cells of a sweep, one after the other or several side by side: begun, watched, ended. */
#include <stdlib.h>
#include <string.h>

#include "sweep/cell_words.h"
#include "sweep/job.h"
#include "terminal/stop.h"

const char *sweep_cell_words(const cell *c, char *text, size_t size)
{
    char variant[VARIANT_NAME];
    cell_variant(c, variant);
    snprintf(text, size, "%s, batch %lld, seed %lld%s%s", c->optimizer->name, (long long)c->batch, (long long)c->seed,
             *variant ? ", " : "", variant);
    return text;
}

/* --- one cell ----------------------------------------------------------------------------------------------------- */

/* The open line: the cell at work, or how many are and what the last of them said. */
static void show(const job *j, const char *line)
{
    sweep *w = j->sweep;
    char left[64], said[CELL_WORDS + 1024];
    const double share = (double)w->finished / w->cells;
    snprintf(left, sizeof left, "%d of %d, %d at work", w->finished, w->cells, w->n_jobs);
    snprintf(said, sizeof said, "%s: %s", j->words, line);
    progress_bar(&w->progress, w->n_jobs > 1 ? left : j->words, share, w->n_jobs > 1 ? said : line);
}

static void on_told(void *user, const char *line)
{
    job *j = user;
    status_heard(&j->life);
    show(j, line);
}

/* Starts its process. Returns 0 or an exit code, complained of. */
static int start(job *j)
{
    sweep *w = j->sweep;
    char **argv = cell_words_make(w->recipe, &j->asked);
    if (!argv)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for the command line of a cell");
    j->process = (cell_process){.told = on_told, .user = j, .limit = (double)w->asked.time_limit};
    const bool started = cell_start(&j->process, argv);
    cell_words_free(argv);
    if (!started)
        return GR_IO_ERROR;
    j->life.words = j->words;
    j->life.pid = (int)j->process.pid;
    w->jobs[w->n_jobs++] = j;
    for (int i = 0; i < w->n_jobs; i++)
        if (w->jobs[i]->beside < w->n_jobs)
            w->jobs[i]->beside = w->n_jobs;
    status_begin(&w->status, &j->life);
    show(j, "starting");
    return 0;
}

/* Begins cell number of the grid. Returns 0 or an exit code, complained of. */
static int begin(sweep *w, int number)
{
    job *j = calloc(1, sizeof *j);
    if (!j)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for a cell");
    j->sweep = w;
    j->number = number;
    j->cell = grid_cell(&w->grid, number);
    j->asked = grid_settings(&w->asked.shared, &j->cell);
    j->run = settings_resolve(&j->asked, w->recipe);
    cell_variant(&j->cell, j->variant);
    sweep_model_text(w, j->asked.model, j->model_text);
    sweep_cell_words(&j->cell, j->words, sizeof j->words);
    cell_state_folder(w->asked.out, &j->cell, j->folder);
    cell_state_keep(&j->asked, j->folder, w->asked.checkpoint_every);
    j->kept = cell_state_is_there(j->folder);
    if (j->kept)
        progress_line(&w->progress, "%s goes on from where it was stopped", j->words);
    const int code = start(j);
    if (code)
        free(j);
    return code;
}

/* A state that is refused, by another processor, say: the cell begins anew. Returns 0 or an exit code. */
static int begin_again(job *j, const cell_end *end)
{
    progress_line(&j->sweep->progress, "%s begins again: %s", j->words, end->trouble);
    cell_state_drop(j->folder);
    j->kept = false;
    return start(j);
}

/* What came of a cell, which the sweep has to do with. Returns 0 or an exit code. */
static int take(sweep *w, const job *j, const cell_end *end)
{
    /* A cell that was told to stop may not have got so far as to say so itself. */
    if (end->code == GR_STOPPED || (stop_asked() && (end->code != 0 || end->signal != 0)))
        return GR_STOPPED;
    if (end->lost)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for what %s told; the same command runs it again",
                        j->words);
    if (end->code == GR_USAGE && w->finished == 0) { /* what the first cell is refused for the others would be, too */
        const char *line_end = strrchr(end->trouble, '\n');
        return complain(GR_USAGE, "sweep", "the first cell was refused: %s", line_end ? line_end + 1 : end->trouble);
    }
    const int code = sweep_take_result(w, j, end);
    if (code == 0 && (end->timed_out || !end->signal)) /* killed by somebody else, it goes on the next time */
        cell_state_drop(j->folder);
    return code;
}

/* The end of the cell in place i of those at work. given_up: only its state is of use. Returns 0 or an exit code. */
static int end_job(sweep *w, int i, bool given_up)
{
    job *j = w->jobs[i];
    cell_end end = cell_reap(&j->process);
    w->jobs[i] = w->jobs[--w->n_jobs];
    status_end(&w->status, &j->life);
    const bool refused = j->kept && (end.code == GR_USAGE || end.code == GR_BAD_DATA);
    int code = 0;
    if (!given_up)
        code = refused ? begin_again(j, &end) : take(w, j, &end);
    free(end.result);
    if (given_up || !refused || code)
        free(j);
    return code;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

bool sweep_has_cell(const sweep *w, int number)
{
    return w->shards == 0 || number % w->shards == w->shard;
}

int sweep_count_missing(const sweep *w)
{
    int n = 0;
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        n += sweep_has_cell(w, i) && journal_lacks(&w->journal, &c);
    }
    return n;
}

/* A sweep that was killed at the very end of a cell has left its state. */
static void drop_left_over(const sweep *w, const cell *c)
{
    char folder[CELL_STATE_PATH];
    cell_state_folder(w->asked.out, c, folder);
    cell_state_drop(folder);
}

/* Begins cells from number next on, as many as there is room for; next is the first that was not. */
static int begin_more(sweep *w, int *next)
{
    int code = 0;
    for (; code == 0 && *next < grid_count(&w->grid); ++*next) {
        const cell c = grid_cell(&w->grid, *next);
        if (!sweep_has_cell(w, *next))
            continue;
        if (!journal_lacks(&w->journal, &c)) {
            drop_left_over(w, &c);
            continue;
        }
        if (stop_asked() || !sweep_has_room(w, *next))
            break;
        sweep_redraw(w);
        code = begin(w, *next);
    }
    return code;
}

/* Waits for a cell to end, about a second at most. Returns 0 or an exit code. */
static int wait_a_while(sweep *w, bool given_up)
{
    cell_process *processes[MOST_CELLS];
    for (int i = 0; i < w->n_jobs; i++) {
        processes[i] = &w->jobs[i]->process;
        if (given_up)
            cell_stop(processes[i]);
    }
    status_beat(&w->status);
    const int over = cells_listen(processes, w->n_jobs);
    return over < 0 ? 0 : end_job(w, over, given_up);
}

/* Says what the sweep ends as. Returns the exit code. */
static int end_all(sweep *w, int code)
{
    progress_clear(&w->progress);
    cell_states_tidy(w->asked.out);
    w->status.finished = w->finished;
    status_write(&w->status, code ? "STOPPED" : "DONE");
    const int left = w->cells - w->finished;
    if (code == GR_STOPPED)
        fprintf(stderr, "gradus sweep: stopped, %d cell%s left; the same command goes on\n", left,
                left == 1 ? "" : "s");
    return code;
}

int sweep_run_missing(sweep *w)
{
    int code = 0, next = 0;
    w->status.folder = w->asked.out;
    w->status.cells = w->cells;
    do {
        if (code == 0)
            code = begin_more(w, &next);
        if (w->n_jobs > 0) {
            const int end = wait_a_while(w, code != 0 && code != GR_STOPPED);
            code = code && code != GR_STOPPED ? code : end ? end : code;
        }
        w->status.finished = w->finished;
    } while (w->n_jobs > 0 || (code == 0 && !stop_asked() && next < grid_count(&w->grid)));
    return end_all(w, code == 0 && stop_asked() && w->finished < w->cells ? GR_STOPPED : code);
}
