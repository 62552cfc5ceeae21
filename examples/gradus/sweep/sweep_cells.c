/* sweep_cells.c - the cells of a sweep, one after the other: run, put down, told. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/cell.h"
#include "sweep/sweep.h"
#include "terminal/stop.h"
#include "terminal/text.h"
#include "train/row.h"

/* --- one cell ----------------------------------------------------------------------------------------------------- */

static void on_told(void *user, const char *line)
{
    sweep *w = user;
    progress_bar(&w->progress, w->current, (double)w->finished / w->cells, line);
}

/* The row of a cell that did not give one itself. */
static json_t *row_of_failure(const sweep *w, const resolved *s, const cell_end *end)
{
    char error[1200];
    if (end->signal)
        snprintf(error, sizeof error, "killed by signal %d%s%s%s", end->signal,
                 end->signal == SIGKILL ? " (perhaps by the system, for want of memory)" : "",
                 *end->trouble ? ": " : "", end->trouble);
    else
        snprintf(error, sizeof error, "exit code %d: %s", end->code, end->trouble);
    result r = {.run = s, .data = w->data, .data_hash = w->data_hash, .error = error};
    r.code = end->code == GR_NO_MEMORY || end->code == GR_NUMERIC ? (gr_code)end->code : GR_DEVICE_FAULT;
    return row_json(&r);
}

/* What a cell has printed, if that is a row and its exit code says so too. NULL otherwise. */
static json_t *row_of_cell(const cell_end *end)
{
    json_t *row = end->result && !end->signal ? json_loads(end->result, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (row && strcmp(row_text(row, "state"), row_state((gr_code)end->code)) == 0)
        return row;
    json_decref(row);
    return NULL;
}

static void tell_result(sweep *w, const json_t *row, double seconds)
{
    char time[32], left[48] = "";
    double accuracy = json_number_value(json_object_get(row, "test_accuracy"));
    const char *state = row_text(row, "state"), *error = row_text(row, "error");
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

/* The command line of a cell: every setting that was given, so that it is checked once more where it is used. */
static bool command_line(const sweep *w, const settings *s, char **argv, int max)
{
    const char *first[] = {"gradus", "train", w->recipe->name, "--json"};
    int argc = 0;
    for (; argc < 4; argc++)
        if (!(argv[argc] = strdup(first[argc])))
            return false;
    bool good = options_unparse(settings_cell(), s, argv, &argc, max) &&
                options_unparse(settings_protocol, s, argv, &argc, max) &&
                options_unparse(parameter_options(), s->parameters, argv, &argc, max) &&
                options_unparse(settings_machine, s, argv, &argc, max);
    argv[argc] = NULL;
    return good;
}

/* Puts down what has come of a cell. Returns 0 or GR_IO_ERROR, complained of. */
static int take_result(sweep *w, const resolved *s, const cell_end *end, double expected)
{
    json_t *row = row_of_cell(end);
    if (!row)
        row = row_of_failure(w, s, end);
    w->finished++;
    w->expected_done += expected;
    w->actual_done += end->seconds;
    int code = journal_append(&w->journal, json_incref(row));
    tell_result(w, row, end->seconds);
    json_decref(row);
    return code;
}

/* Runs cell number of the grid. Returns 0 or an exit code. */
static int run_cell(sweep *w, const cell *c, int number)
{
    enum { WORDS = 128 };
    char *argv[WORDS + 1] = {0};
    const settings s = grid_settings(&w->asked.shared, c);
    const resolved run = settings_resolve(&s, w->recipe);
    cell_end end = {0};
    snprintf(w->current, sizeof w->current, "%s, batch %lld, seed %lld", c->optimizer->name, (long long)c->batch,
             (long long)c->seed);
    progress_bar(&w->progress, w->current, (double)w->finished / w->cells, "starting");
    bool ran = command_line(w, &s, argv, WORDS) && cell_run(argv, on_told, w, &end);
    for (char **a = argv; *a; a++)
        free(*a);
    /* A cell that was told to stop may not have got so far as to say so itself. */
    bool stopped = end.code == GR_STOPPED || (stop_asked() && (end.code != 0 || end.signal != 0));
    int code = !ran ? GR_IO_ERROR : stopped ? GR_STOPPED : take_result(w, &run, &end, w->expected[number]);
    free(end.result);
    return code;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

int sweep_count_missing(const sweep *w)
{
    int n = 0;
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        n += journal_lacks(&w->journal, &c);
    }
    return n;
}

int sweep_run_missing(sweep *w)
{
    int code = 0;
    for (int i = 0; i < grid_count(&w->grid) && code == 0; i++) {
        cell c = grid_cell(&w->grid, i);
        if (stop_asked())
            code = GR_STOPPED;
        else if (journal_lacks(&w->journal, &c))
            code = run_cell(w, &c, i);
    }
    progress_clear(&w->progress);
    if (code == GR_STOPPED)
        fprintf(stderr, "gradus sweep: stopped, %d cells left; the same command goes on\n", w->cells - w->finished);
    return code;
}

/* Writes one of the sweep's files whole. */
