/* sweep.c - gradus sweep: a grid of runs, one process each, that can be killed at any moment and continued. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sources/source.h"
#include "sweep/cell.h"
#include "sweep/estimate.h"
#include "sweep/outcome.h"
#include "sweep/plot.h"
#include "terminal/output.h"
#include "terminal/progress.h"
#include "terminal/stop.h"
#include "terminal/system.h"
#include "terminal/text.h"
#include "train/row.h"

typedef struct {
    settings shared; /* what all cells share; batch, optimizer and seed are open */
    const char *batch, *optimizer, *out;
    int64_t seeds;
    bool json;
} sweep_settings;

static const option grid_options[] = {
    TEXT_OPTION("batch", "LIST", offsetof(sweep_settings, batch),
                "batch sizes, such as 16,32,64 (default: the recipe's)"),
    TEXT_OPTION("optimizer", "LIST", offsetof(sweep_settings, optimizer),
                "such as sgd,adam; 'gradus train --help' names them all (default: the recipe's)"),
    COUNT_OPTION("seeds", "N", offsetof(sweep_settings, seeds), 1, 10000, "seeds 1 to N for every cell (default: 3)"),
    {0},
};

static const option out_options[] = {
    TEXT_OPTION("out", "FOLDER", offsetof(sweep_settings, out),
                "for results.jsonl, results.csv, summary.csv, table.txt and the picture (default: sweep-RECIPE)"),
    FLAG_OPTION("json", offsetof(sweep_settings, json), "print the table as one line of JSON"),
    {0},
};

typedef struct {
    const recipe *recipe;
    sweep_settings asked;
    grid grid;
    journal journal;
    estimate estimate;
    const char *data; /* name of the data set */
    char data_hash[17];
    progress progress;
    /* while it runs */
    int cells, finished;               /* of this call */
    char current[96];                  /* the cell at work, in words */
    double *expected;                  /* seconds, by cell of the grid */
    double expected_done, actual_done; /* of the cells that ran */
} sweep;

/* --- set-up ------------------------------------------------------------------------------------------------------- */

/* Reads the data once: is all well with them, which are they, how long does it take. */
static int look_at_data(sweep *w)
{
    const cell first = grid_cell(&w->grid, 0);
    const resolved s = grid_resolve(&w->asked.shared, w->recipe, &first);
    double begin = now_seconds();
    gr_context *ctx = gr_open(&(gr_options){.threads = (int)s.asked.threads});
    source data;
    int code = source_open(ctx, &s, "sweep", &data);
    for (int i = 0; code == 0 && i < w->grid.n_batches; i++)
        code = source_check_batch(&data, w->grid.batches[i], s.last_batch, "sweep");
    w->data = data.name;
    memcpy(w->data_hash, data.hash, sizeof data.hash);
    w->estimate = (estimate){.recipe = w->recipe,
                             .settings = &w->asked.shared,
                             .train = gr_dataset_size(data.split.train),
                             .val = gr_dataset_size(data.split.val),
                             .test = gr_dataset_size(data.split.test),
                             .read_seconds = now_seconds() - begin};
    gr_close(ctx);
    return code;
}

/* What all cells of a folder must share: --epochs 5 and nothing are the same where 5 is the recipe's choice. */
static json_t *identity(const sweep *w)
{
    const settings shared = settings_shared(&w->asked.shared, w->recipe);
    json_t *o = json_object();
    json_object_set_new(o, "recipe", json_string(w->recipe->name));
    json_object_set_new(o, "data", json_string(w->data));
    json_object_set_new(o, "data_hash", json_string(w->data_hash));
    json_object_set_new(o, "test_samples", json_integer(w->estimate.test));
    json_object_set_new(o, "version", json_string(gr_version()));
    options_json(settings_protocol, &shared, o);
    options_json(parameter_options(), shared.parameters, o); /* as given: each optimizer has its own usual numbers */
    return o;
}

/* For pictures: how the optimizers look in them. */
static json_t *notes(void)
{
    json_t *looks = json_object();
    for (const optimizer *o = optimizers; o->name; o++)
        json_object_set_new(looks, o->name, json_pack("{s:s, s:s}", "label", o->label, "colour", o->colour));
    return json_pack("{s:o}", "optimizers", looks);
}

static int open_journal(sweep *w)
{
    json_t *o = identity(w), *n = notes();
    int code = journal_open(&w->journal, o, n);
    json_decref(o);
    json_decref(n);
    return code;
}

/* Seconds for the cells that are missing. NAN: not known. */
static double expected_left(const sweep *w)
{
    double sum = 0;
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        if (journal_lacks(&w->journal, &c))
            sum += w->expected[i];
    }
    /* if the cells so far took longer than was expected of them, so will the others */
    return w->expected_done > 0 ? sum * w->actual_done / w->expected_done : sum;
}

static void print_plan(sweep *w)
{
    const grid *g = &w->grid;
    int count = grid_count(g);
    char time[32];
    fprintf(stderr, "%s on %s: %d cell%s = %d batch size%s x %d optimizer%s x %d seed%s, %d to run\n", w->recipe->name,
            w->data, count, count == 1 ? "" : "s", g->n_batches, g->n_batches == 1 ? "" : "s", g->optimizers.n,
            g->optimizers.n == 1 ? "" : "s", g->n_seeds, g->n_seeds == 1 ? "" : "s", w->cells);
    if (w->cells == 0)
        return;
    bool probed = estimate_probe(&w->estimate, g, &w->journal);
    for (int i = 0; i < count; i++) {
        cell c = grid_cell(g, i);
        w->expected[i] = estimate_cell(&w->estimate, g, &w->journal, &c);
    }
    double left = expected_left(w);
    if (isfinite(left))
        fprintf(stderr, "expected time: about %s, judged by %s\n", duration_text(left, time),
                probed ? "a few updates tried out" : "the cells that are done");
    else
        fprintf(stderr, "expected time: not known, not every batch size could be tried out\n");
}

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
    double expected = expected_left(w);
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

static int count_missing(const sweep *w)
{
    int n = 0;
    for (int i = 0; i < grid_count(&w->grid); i++) {
        cell c = grid_cell(&w->grid, i);
        n += journal_lacks(&w->journal, &c);
    }
    return n;
}

static int run_missing(sweep *w)
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
static int write_file(const sweep *w, const char *name, const outcome *t)
{
    char path[2048];
    output out;
    snprintf(path, sizeof path, "%s/%s", w->asked.out, name);
    int code = output_open(&out, path, "sweep");
    if (code)
        return code;
    if (strcmp(name, "results.csv") == 0)
        cells_write_csv(&w->grid, &w->journal, out.file);
    else if (strcmp(name, "summary.csv") == 0)
        outcome_write_csv(t, out.file);
    else
        outcome_print(t, out.file);
    return output_commit(&out, "sweep");
}

static int tell_all(const sweep *w)
{
    outcome t = {.recipe = w->recipe,
                 .data = w->data,
                 .test_samples = w->estimate.test,
                 .by_updates = w->asked.shared.updates > 0};
    if (!outcome_fill(&t, &w->grid, &w->journal))
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for the table");
    int code = write_file(w, "results.csv", &t);
    if (code == 0)
        code = write_file(w, "summary.csv", &t);
    if (code == 0)
        code = write_file(w, "table.txt", &t);
    if (w->asked.json)
        outcome_print_json(&t, stdout);
    else
        outcome_print(&t, stdout);
    int failed = 0;
    for (int i = 0; i < t.n; i++)
        failed += t.lines[i].failed;
    outcome_free(&t);
    if (code)
        return code;
    plot_sweep(w->asked.out);
    if (failed)
        complain(GR_OK, "sweep", "%d cell%s failed; %s/results.jsonl tells why, the same command tries again", failed,
                 failed == 1 ? "" : "s", w->asked.out);
    return failed ? TOOL_CELLS_FAILED : 0;
}

static int work(sweep *w)
{
    int code = journal_lock(&w->journal, w->asked.out);
    if (code == 0)
        code = look_at_data(w);
    if (code == 0)
        code = open_journal(w);
    w->expected = calloc((size_t)grid_count(&w->grid), sizeof *w->expected);
    if (code == 0 && !w->expected)
        code = complain(GR_NO_MEMORY, "sweep", "out of host memory for the plan");
    if (code == 0) {
        w->cells = count_missing(w);
        print_plan(w);
        stop_at_next_chance();
        code = run_missing(w);
    }
    if (code == 0)
        code = tell_all(w);
    journal_close(&w->journal);
    free(w->expected);
    return code;
}

static int run_sweep(int argc, char **argv)
{
    sweep w = {.progress = progress_open()};
    sweep_settings *s = &w.asked;
    char folder[64];
    const char *name;
    options_end end = options_parse(&sweep_command, s, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    w.recipe = recipe_find(name, "sweep");
    if (!w.recipe)
        return GR_USAGE;
    stop_catch();
    snprintf(folder, sizeof folder, "sweep-%s", w.recipe->name);
    s->out = s->out ? s->out : folder;
    int code = grid_parse(s->batch ? s->batch : w.recipe->grid_batches,
                          s->optimizer ? s->optimizer : w.recipe->grid_optimizers, s->seeds ? s->seeds : 3, &w.grid);
    if (code == 0)
        code = settings_check(&s->shared, w.recipe, "sweep", &w.grid.optimizers);
    if (code == 0)
        code = settings_check_inputs(&s->shared, "sweep");
    return code ? code : work(&w);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const option_group groups[] = {
    {"The grid", grid_options, NULL, 0},
    SETTINGS_GROUP("The protocol, the same for all cells", settings_protocol, offsetof(sweep_settings, shared)),
    PARAMETERS_GROUP("The optimizers", offsetof(sweep_settings, shared)),
    SETTINGS_GROUP("The machine", settings_machine, offsetof(sweep_settings, shared)),
    {"Output", out_options, NULL, 0},
    {0}};

const gradus_command sweep_command = {
    .name = "sweep",
    .purpose = "train a whole grid: batch sizes x optimizers x seeds",
    .usage = "sweep RECIPE [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about =
        "Train a grid of batch sizes x optimizers x seeds, one process per cell, and show test accuracy against "
        "batch size. Results are safe as soon as a cell ends: the same command again runs only what is missing or "
        "failed, and more batch sizes, optimizers or seeds may be asked for. Running out of memory is a result, not "
        "a failure.",
    .examples = "sweep cats-vs-dogs --data ~/datasets --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out runs\n"
                "sweep cats-vs-dogs --procedural --batch 16,64 --updates 50 --seeds 2 --out try",
    .groups = groups,
    .run = run_sweep,
};
