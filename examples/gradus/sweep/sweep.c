/* sweep.c - gradus sweep: a grid of runs, one process each, that can be killed at any moment and continued. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sweep/outcome.h"
#include "sweep/plot.h"
#include "sweep/sweep.h"
#include "terminal/output.h"
#include "terminal/stop.h"

enum { LONGEST_OUT = 1024 /* bytes of a folder's path: names behind it have room */ };

static int write_file(const sweep *w, const char *name, const outcome *t)
{
    char path[LONGEST_OUT + 64];
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
        code = sweep_look_at_data(w);
    if (code == 0)
        code = sweep_open_journal(w);
    w->expected = calloc((size_t)grid_count(&w->grid), sizeof *w->expected);
    if (code == 0 && !w->expected)
        code = complain(GR_NO_MEMORY, "sweep", "out of host memory for the plan");
    if (code == 0) {
        w->cells = sweep_count_missing(w);
        sweep_print_plan(w);
        stop_at_next_chance();
        code = sweep_run_missing(w);
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
    if (strlen(s->out) > LONGEST_OUT)
        return complain(GR_USAGE, "sweep", "--out %.64s...: the path of the folder has more than %d characters", s->out,
                        LONGEST_OUT);
    int code = grid_parse(s->batch ? s->batch : w.recipe->grid_batches,
                          s->optimizer ? s->optimizer : w.recipe->grid_optimizers, s->seeds ? s->seeds : 3, &w.grid);
    if (code == 0)
        code = settings_check(&s->shared, w.recipe, "sweep", &w.grid.optimizers);
    if (code == 0)
        code = settings_check_inputs(&s->shared, "sweep");
    return code ? code : work(&w);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

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
