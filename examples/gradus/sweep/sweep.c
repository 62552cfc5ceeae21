/* sweep.c - gradus sweep: a grid of runs, one process each, that can be killed at any moment and continued. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "recipes/source.h"
#include "summary/estimate.h"
#include "sweep/cell.h"
#include "sweep/plot.h"
#include "terminal/output.h"
#include "terminal/progress.h"
#include "terminal/stop.h"
#include "terminal/table.h"
#include "train/row.h"

typedef struct {
    const char *batch, *optimizer, *out;
    int64_t seeds;
    bool json;
} sweep_settings;

static const option grid_options[] = {
    {"batch", "LIST", OPTION_TEXT, offsetof(sweep_settings, batch),
     "batch sizes, such as 16,32,64 (default: the recipe's)", 0, 0, NULL},
    {"optimizer", "LIST", OPTION_TEXT, offsetof(sweep_settings, optimizer),
     "such as sgd,momentum,adam,adamw,lars,sam,prox; 'gradus train --help' tells them apart (default: the recipe's)", 0,
     0, NULL},
    {"seeds", "N", OPTION_COUNT, offsetof(sweep_settings, seeds), "seeds 1 to N for every cell (default: 3)", 1, 10000,
     NULL},
    {0},
};

static const option out_options[] = {
    {"out", "FOLDER", OPTION_TEXT, offsetof(sweep_settings, out),
     "for results.jsonl, results.csv, summary.csv, table.txt and the picture (default: sweep-RECIPE)", 0, 0, NULL},
    {"json", NULL, OPTION_FLAG, offsetof(sweep_settings, json), "print the table as one line of JSON", 0, 0, NULL},
    {0},
};

static const command_text sweep_text = {
    .name = "sweep",
    .usage = "sweep RECIPE [options]",
    .operand = "RECIPE",
    .about =
        "Train a grid of batch sizes x optimizers x seeds, one process per cell, and show test accuracy against batch "
        "size. Results are safe as soon as a cell ends: the same command again runs only what is missing or failed, "
        "and more batch sizes, optimizers or seeds may be asked for. Running out of memory is a result, not a failure.",
    .examples = "sweep cats-vs-dogs --data ~/datasets --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out runs\n"
                "sweep cats-vs-dogs --procedural --batch 16,64 --updates 50 --seeds 2 --out try",
};

typedef struct {
    const recipe *recipe;
    settings base; /* what all cells share; batch, optimizer and seed are open */
    sweep_settings grid_settings;
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
    settings s = w->base;
    s.seed = 1;
    settings_complete(&s, w->recipe);
    double begin = now_seconds();
    gr_context *ctx = settings_open(&(settings){.threads = s.threads}, false);
    source data;
    int code = source_open(ctx, w->recipe, &s, "sweep", &data);
    for (int i = 0; code == 0 && i < w->grid.n_batches; i++)
        code = source_check_batch(&data, w->grid.batches[i], s.last_batch, "sweep");
    w->data = data.name;
    memcpy(w->data_hash, data.hash, sizeof data.hash);
    w->estimate = (estimate){.recipe = w->recipe,
                             .settings = &w->base,
                             .train = gr_dataset_size(data.split.train),
                             .val = gr_dataset_size(data.split.val),
                             .test = gr_dataset_size(data.split.test),
                             .read_seconds = now_seconds() - begin};
    gr_close(ctx);
    return code;
}

/* What all cells of a folder must share. */
static json_t *identity(const sweep *w)
{
    settings shared = w->base;
    settings_complete(&shared, w->recipe); /* --epochs 5 and nothing are the same where 5 is the recipe's choice */
    shared.lr = w->base.lr;                /* but each optimizer has its own usual numbers */
    shared.momentum = w->base.momentum;
    shared.nesterov = w->base.nesterov;
    shared.weight_decay = w->base.weight_decay;
    shared.lars_trust = w->base.lars_trust;
    shared.sam_rho = w->base.sam_rho;
    shared.prox_gamma = w->base.prox_gamma;
    shared.prox_steps = w->base.prox_steps;
    json_t *o = json_object();
    json_object_set_new(o, "recipe", json_string(w->recipe->name));
    json_object_set_new(o, "data", json_string(w->data));
    json_object_set_new(o, "data_hash", json_string(w->data_hash));
    json_object_set_new(o, "test_samples", json_integer(w->estimate.test));
    json_object_set_new(o, "version", json_string(gr_version()));
    options_json(settings_protocol, &shared, o);
    return o;
}

static int open_journal(sweep *w)
{
    json_t *o = identity(w);
    int code = journal_open(&w->journal, o);
    json_decref(o);
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
            w->data, count, count == 1 ? "" : "s", g->n_batches, g->n_batches == 1 ? "" : "s", g->n_optimizers,
            g->n_optimizers == 1 ? "" : "s", g->n_seeds, g->n_seeds == 1 ? "" : "s", w->cells);
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
static json_t *row_of_failure(const sweep *w, const settings *s, const cell_end *end)
{
    char error[1200];
    if (end->signal)
        snprintf(error, sizeof error, "killed by signal %d%s%s%s", end->signal,
                 end->signal == SIGKILL ? " (perhaps by the system, for want of memory)" : "",
                 *end->trouble ? ": " : "", end->trouble);
    else
        snprintf(error, sizeof error, "exit code %d: %s", end->code, end->trouble);
    result r = {.recipe = w->recipe, .settings = s, .data = w->data, .data_hash = w->data_hash, .error = error};
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

static settings settings_of(const sweep *w, const cell *c)
{
    settings s = w->base;
    s.batch = c->batch;
    s.optimizer = c->optimizer;
    s.seed = c->seed;
    settings_keep(&s, optimizer_takes(c->optimizer)); /* each one's options are for its own cells */
    return s;
}

/* The command line of a cell: every setting that was given, so that it is checked once more where it is used. */
static bool command_line(const sweep *w, const settings *s, char **argv, int max)
{
    const char *first[] = {"gradus", "train", w->recipe->name, "--json"};
    int argc = 0;
    for (; argc < 4; argc++)
        if (!(argv[argc] = strdup(first[argc])))
            return false;
    bool good = options_unparse(settings_cell, s, argv, &argc, max) &&
                options_unparse(settings_protocol, s, argv, &argc, max) &&
                options_unparse(settings_machine, s, argv, &argc, max);
    argv[argc] = NULL;
    return good;
}

/* Puts down what has come of a cell. Returns 0 or GR_IO_ERROR, complained of. */
static int take_result(sweep *w, settings *s, const cell_end *end, double expected)
{
    settings_complete(s, w->recipe);
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
    enum { WORDS = 64 };
    char *argv[WORDS + 1] = {0};
    settings s = settings_of(w, c);
    cell_end end = {0};
    snprintf(w->current, sizeof w->current, "%s, batch %lld, seed %lld", c->optimizer, (long long)c->batch,
             (long long)c->seed);
    progress_bar(&w->progress, w->current, (double)w->finished / w->cells, "starting");
    bool ran = command_line(w, &s, argv, WORDS) && cell_run(argv, on_told, w, &end);
    for (char **a = argv; *a; a++)
        free(*a);
    /* A cell that was told to stop may not have got so far as to say so itself. */
    bool stopped = end.code == GR_STOPPED || (stop_asked() && (end.code != 0 || end.signal != 0));
    int code = !ran ? GR_IO_ERROR : stopped ? GR_STOPPED : take_result(w, &s, &end, w->expected[number]);
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
static int write_file(const sweep *w, const char *name, const table *t)
{
    char path[2048];
    output out;
    snprintf(path, sizeof path, "%s/%s", w->grid_settings.out, name);
    int code = output_open(&out, path, "sweep");
    if (code)
        return code;
    if (strcmp(name, "results.csv") == 0)
        cells_write_csv(&w->grid, &w->journal, out.file);
    else if (strcmp(name, "summary.csv") == 0)
        table_write_csv(t, out.file);
    else
        table_print(t, out.file);
    return output_commit(&out, "sweep");
}

static int tell_all(const sweep *w)
{
    table t = table_make(w->recipe, w->data, w->estimate.test, &w->grid, &w->journal);
    if (!t.lines)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for the table");
    int code = write_file(w, "results.csv", &t);
    if (code == 0)
        code = write_file(w, "summary.csv", &t);
    if (code == 0)
        code = write_file(w, "table.txt", &t);
    if (w->grid_settings.json)
        table_print_json(&t, stdout);
    else
        table_print(&t, stdout);
    int failed = 0;
    for (int i = 0; i < t.n; i++)
        failed += t.lines[i].failed;
    table_free(&t);
    if (code)
        return code;
    plot_sweep(w->grid_settings.out);
    if (failed)
        complain(GR_OK, "sweep", "%d cell%s failed; %s/results.jsonl tells why, the same command tries again", failed,
                 failed == 1 ? "" : "s", w->grid_settings.out);
    return failed ? TOOL_CELLS_FAILED : 0;
}

static int run_sweep(sweep *w)
{
    int code = journal_lock(&w->journal, w->grid_settings.out);
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

int sweep_command(int argc, char **argv)
{
    sweep w = {.progress = progress_open()};
    sweep_settings *s = &w.grid_settings;
    char folder[64];
    const option_group groups[] = {{"The grid", grid_options, s},
                                   {"The protocol, the same for all cells", settings_protocol, &w.base},
                                   {"The machine", settings_machine, &w.base},
                                   {"Output", out_options, s},
                                   {0}};
    const char *name;
    options_end end = options_parse(&sweep_text, groups, argc, argv, &name);
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
        code = settings_check(&w.base, w.recipe, "sweep", grid_takes(&w.grid));
    if (code == 0)
        code = settings_check_inputs(&w.base, "sweep");
    return code ? code : run_sweep(&w);
}
