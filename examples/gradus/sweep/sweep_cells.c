/* sweep_cells.c - the cells of a sweep, one after the other: run, put down, told. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/cell.h"
#include "sweep/cell_state.h"
#include "sweep/sweep.h"
#include "terminal/json_values.h"
#include "terminal/stop.h"
#include "terminal/text.h"
#include "train/row.h"

/* --- one cell ----------------------------------------------------------------------------------------------------- */

static void on_told(void *user, const char *line)
{
    sweep *w = user;
    progress_bar(&w->progress, w->current, (double)w->finished / w->cells, line);
}

static void on_beat(void *user)
{
    sweep *w = user;
    status_beat(&w->status);
}

/* The row of a cell that did not give one itself. */
static json_t *row_of_failure(const sweep *w, const resolved *s, const cell_end *end)
{
    char error[1200];
    if (end->timed_out)
        snprintf(error, sizeof error, "killed after %lld seconds (--time-limit)", (long long)w->asked.time_limit);
    else if (end->signal)
        snprintf(error, sizeof error, "killed by signal %d%s%s%s", end->signal,
                 end->signal == SIGKILL ? " (perhaps by the system, for want of memory)" : "",
                 *end->trouble ? ": " : "", end->trouble);
    else
        snprintf(error, sizeof error, "exit code %d: %s", end->code, end->trouble);
    result r = {.run = s, .data = w->data, .data_hash = w->data_hash, .error = error};
    r.code = end->code == GR_NO_MEMORY || end->code == GR_NUMERIC ? (gr_code)end->code : GR_DEVICE_FAULT;
    json_t *row = row_json(&r);
    if (end->timed_out) {
        json_object_set_new(row, "state", json_string("timed out"));
        json_object_set_new(row, "time_limit", json_integer(w->asked.time_limit));
    }
    return row;
}

/* What a cell has printed, if that is a row and its exit code says so too. NULL otherwise. */
static json_t *row_of_cell(const cell_end *end)
{
    json_t *row = end->result && !end->signal ? json_loads(end->result, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (row && strcmp(text_at(row, "state"), row_state((gr_code)end->code)) == 0)
        return row;
    json_decref(row);
    return NULL;
}

static void tell_result(sweep *w, const json_t *row, double seconds)
{
    char time[32], left[48] = "";
    double accuracy = json_number_value(json_object_get(row, "test_accuracy"));
    const char *state = text_at(row, "state"), *error = text_at(row, "error");
    double expected = sweep_expected_left(w);
    if (w->finished < w->cells && isfinite(expected))
        snprintf(left, sizeof left, ", %s left", duration_text(expected, time));
    if (strcmp(state, "done") == 0)
        progress_line(&w->progress, "[%d/%d] %s: test %.1f %%, %s%s", w->finished, w->cells, w->current, 100 * accuracy,
                      duration_text(seconds, time), left);
    else
        progress_line(&w->progress, "[%d/%d] %s: %s%s%s", w->finished, w->cells, w->current, state, *error ? ": " : "",
                      error);
}

/* As many words as a cell's command line can have, with the NULL behind them. */
static int most_words(void)
{
    const option *const tables[] = {settings_cell(), settings_protocol, parameter_options(), settings_machine,
                                    settings_checkpoints};
    int words = 5; /* gradus train RECIPE --json, and the end */
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const option *o = tables[i]; o->name; o++)
            words += 2;
    return words;
}

static void free_words(char **argv)
{
    for (char **a = argv; a && *a; a++)
        free(*a);
    free(argv);
}

/*
 * The command line of a cell: every setting that was given, so that it is checked once more where it is used. NULL: no
 * memory.
 */
static char **command_line(const sweep *w, const settings *s)
{
    const char *first[] = {"gradus", "train", w->recipe->name, "--json"};
    const int most = most_words();
    char **argv = calloc((size_t)most, sizeof *argv);
    int argc = 0;
    bool good = argv != NULL;
    for (; good && argc < 4; argc++)
        good = (argv[argc] = strdup(first[argc])) != NULL;
    good = good && options_unparse(settings_cell(), s, argv, &argc, most) &&
           options_unparse(settings_protocol, s, argv, &argc, most) &&
           options_unparse(parameter_options(), s->parameters, argv, &argc, most) &&
           options_unparse(settings_machine, s, argv, &argc, most) &&
           options_unparse(settings_checkpoints, s, argv, &argc, most);
    if (good)
        return argv;
    free_words(argv);
    return NULL;
}

/* Puts down what has come of a cell. Returns 0 or GR_IO_ERROR, complained of. */
static int take_result(sweep *w, const resolved *s, const char *variant, const cell_end *end, double expected)
{
    json_t *row = row_of_cell(end);
    if (!row)
        row = row_of_failure(w, s, end);
    if (*variant)
        json_object_set_new(row, "variant", json_string(variant));
    w->finished++;
    w->expected_done += expected;
    w->actual_done += end->seconds;
    int code = journal_append(&w->journal, json_incref(row));
    tell_result(w, row, end->seconds);
    json_decref(row);
    return code;
}

/* What came of a cell, which the sweep has to do with. Returns 0 or an exit code. */
static int end_cell(sweep *w, const resolved *run, const char *variant, const cell_end *end, double expected)
{
    /* A cell that was told to stop may not have got so far as to say so itself. */
    if (end->code == GR_STOPPED || (stop_asked() && (end->code != 0 || end->signal != 0)))
        return GR_STOPPED;
    if (end->code == GR_USAGE && w->finished == 0) { /* what the first cell is refused for the others would be, too */
        const char *line_end = strrchr(end->trouble, '\n');
        return complain(GR_USAGE, "sweep", "the first cell was refused: %s", line_end ? line_end + 1 : end->trouble);
    }
    return take_result(w, run, variant, end, expected);
}

const char *sweep_cell_words(const cell *c, char *text, size_t size)
{
    char variant[VARIANT_NAME];
    cell_variant(c, variant);
    snprintf(text, size, "%s, batch %lld, seed %lld%s%s", c->optimizer->name, (long long)c->batch, (long long)c->seed,
             *variant ? ", " : "", variant);
    return text;
}

/* The process of a cell, from its start to its end. Returns 0 or an exit code, complained of. */
static int run_process(sweep *w, const settings *s, cell_end *end)
{
    const cell_watch watch = {on_told, on_beat, w, (double)w->asked.time_limit};
    char **argv = command_line(w, s);
    if (!argv)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for the command line of a cell");
    const bool ran = cell_run(argv, &watch, end);
    free_words(argv);
    return ran ? 0 : GR_IO_ERROR;
}

/* The same, from the state that an earlier call has left, unless that is refused: by another processor, say. */
static int run_from_state(sweep *w, const settings *s, cell_end *end)
{
    const bool kept = cell_state_is_there(s->checkpoint);
    if (kept)
        progress_line(&w->progress, "%s goes on from where it was stopped", w->current);
    const int code = run_process(w, s, end);
    if (code || !kept || (end->code != GR_USAGE && end->code != GR_BAD_DATA))
        return code;
    progress_line(&w->progress, "%s begins again: %s", w->current, end->trouble);
    free(end->result);
    cell_state_drop(s->checkpoint);
    return run_process(w, s, end);
}

/* Runs cell number of the grid. Returns 0 or an exit code. */
static int run_cell(sweep *w, const cell *c, int number)
{
    settings s = grid_settings(&w->asked.shared, c);
    const resolved run = settings_resolve(&s, w->recipe);
    cell_end end = {0};
    char variant[VARIANT_NAME], folder[CELL_STATE_PATH];
    cell_variant(c, variant);
    sweep_cell_words(c, w->current, sizeof w->current);
    progress_bar(&w->progress, w->current, (double)w->finished / w->cells, "starting");
    status_begin(&w->status, w->current, w->finished, w->cells);
    cell_state_folder(w->asked.out, c, folder);
    cell_state_keep(&s, folder, w->asked.checkpoint_every);
    int code = run_from_state(w, &s, &end);
    if (code == 0)
        code = end_cell(w, &run, variant, &end, w->expected[number]);
    if (code == 0 && (end.timed_out || !end.signal)) /* killed by somebody else, it goes on the next time */
        cell_state_drop(folder);
    free(end.result);
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

/* A sweep that was killed at the very end of a cell has left its state. Returns 0. */
static int drop_left_over(const sweep *w, const cell *c)
{
    char folder[CELL_STATE_PATH];
    cell_state_folder(w->asked.out, c, folder);
    cell_state_drop(folder);
    return 0;
}

int sweep_run_missing(sweep *w)
{
    int code = 0;
    w->status.folder = w->asked.out;
    for (int i = 0; i < grid_count(&w->grid) && code == 0; i++) {
        cell c = grid_cell(&w->grid, i);
        sweep_redraw(w);
        if (stop_asked())
            code = GR_STOPPED;
        else if (sweep_has_cell(w, i))
            code = journal_lacks(&w->journal, &c) ? run_cell(w, &c, i) : drop_left_over(w, &c);
    }
    progress_clear(&w->progress);
    w->status.cell = NULL;
    w->status.finished = w->finished;
    w->status.cells = w->cells;
    status_write(&w->status, code ? "STOPPED" : "DONE");
    if (code == GR_STOPPED)
        fprintf(stderr, "gradus sweep: stopped, %d cells left; the same command goes on\n", w->cells - w->finished);
    return code;
}
