/* sweep_rows.c - what has come of a cell: its row, put down and told of. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "sweep/job.h"
#include "terminal/json_values.h"
#include "terminal/text.h"
#include "train/row.h"

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

static void tell_result(sweep *w, const char *words, const json_t *row, double seconds)
{
    char time[32], left[48] = "";
    double accuracy = json_number_value(json_object_get(row, "test_accuracy"));
    const char *state = text_at(row, "state"), *error = text_at(row, "error");
    double expected = sweep_expected_left(w);
    if (w->finished < w->cells && isfinite(expected))
        snprintf(left, sizeof left, ", %s left", duration_text(expected, time));
    if (strcmp(state, "done") == 0)
        progress_line(&w->progress, "[%d/%d] %s: test %.1f %%, %s%s", w->finished, w->cells, words, 100 * accuracy,
                      duration_text(seconds, time), left);
    else
        progress_line(&w->progress, "[%d/%d] %s: %s%s%s", w->finished, w->cells, words, state, *error ? ": " : "",
                      error);
}

int sweep_take_result(sweep *w, const job *of, const cell_end *end)
{
    json_t *row = row_of_cell(end);
    if (!row)
        row = row_of_failure(w, &of->run, end);
    if (*of->variant)
        json_object_set_new(row, "variant", json_string(of->variant));
    if (*of->model_text)
        json_object_set_new(row, MODEL_TEXT, json_string(of->model_text));
    if (of->beside > 1)
        json_object_set_new(row, SIDE_BY_SIDE, json_integer(of->beside));
    w->finished++;
    w->expected_done += w->expected[of->number];
    w->actual_done += end->seconds;
    int code = journal_append(&w->journal, json_incref(row));
    tell_result(w, of->words, row, end->seconds);
    json_decref(row);
    return code;
}
