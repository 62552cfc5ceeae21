/* sweep.c - gradus sweep: a grid of runs, one process each, that can be killed at any moment and continued. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "sources/source.h"
#include "sweep/sweep.h"
#include "terminal/stop.h"
#include "terminal/values.h"
#include "train/checkpoints.h"

enum { LONGEST_OUT = 1024 /* bytes of a folder's path: names behind it have room */ };

int sweep_work(sweep *w)
{
    int code = journal_lock(&w->journal, w->asked.out);
    if (code == 0)
        code = sweep_find_batch(w);
    if (code == 0)
        code = sweep_look_at_data(w);
    w->journal.time_limit = w->asked.time_limit;
    if (code == 0)
        code = sweep_open_journal(w);
    w->expected = calloc((size_t)grid_count(&w->grid), sizeof *w->expected);
    w->needs = calloc((size_t)grid_lines(&w->grid), sizeof *w->needs);
    if (code == 0 && (!w->expected || !w->needs))
        code = complain(GR_NO_MEMORY, "sweep", "out of host memory for the plan");
    if (code == 0) {
        w->cells = sweep_count_missing(w);
        sweep_print_plan(w);
        stop_at_next_chance();
        code = sweep_run_missing(w);
    }
    if (code == 0)
        code = sweep_tell(w);
    journal_close(&w->journal);
    free(w->expected);
    free(w->needs);
    return code;
}

/* "2/3": the second of three. Returns 0 or GR_USAGE, complained of. */
static int read_shard(sweep *w)
{
    char word[32] = "";
    int64_t which, of;
    if (!w->asked.shard)
        return 0;
    snprintf(word, sizeof word, "%s", w->asked.shard);
    char *slash = strchr(word, '/');
    if (slash)
        *slash = '\0';
    if (!slash || !parse_count(slash + 1, 1, 10000, &of) || !parse_count(word, 1, of, &which))
        return complain(GR_USAGE, "sweep", "--shard \"%s\": which of how many, such as 1/3, 2/3 and 3/3",
                        w->asked.shard);
    w->shard = (int)which - 1;
    w->shards = (int)of;
    return 0;
}

/* The batch sizes, as text: of a schedule the first, by which its cells are known. */
static const char *batches_of(const sweep *w, char first[32])
{
    gr_batch_stage stages[MAX_STAGES];
    const sweep_settings *s = &w->asked;
    if (!s->shared.batch_schedule || read_stages(s->shared.batch_schedule, stages) == 0)
        return s->batch ? s->batch : w->recipe->grid_batches;
    snprintf(first, 32, "%lld", (long long)stages[0].batch);
    return first;
}

/* The grid that was asked for, and whether every variant of the protocol in it can be run. */
static int check_grid(sweep *w)
{
    const sweep_settings *s = &w->asked;
    char first[32];
    if (s->batch && s->shared.batch_schedule)
        return complain(GR_USAGE, "sweep", "--batch and --batch-schedule exclude each other; give one of them");
    int code = grid_parse(batches_of(w, first), s->optimizer ? s->optimizer : w->recipe->grid_optimizers,
                          s->seeds ? s->seeds : 3, &w->axes, &w->grid);
    for (int i = 0; code == 0 && i < axes_count(&w->axes); i++) {
        settings variant = s->shared;
        axes_apply(&w->axes, i, &variant);
        code = settings_check(&variant, w->recipe, "sweep", &w->grid.optimizers);
    }
    return code ? code : settings_check_inputs(&s->shared, "sweep");
}

/* How often a cell keeps its state. Returns 0 or GR_USAGE, complained of. */
static int check_interval(sweep_settings *s)
{
    s->checkpoint_every = s->checkpoint_every ? s->checkpoint_every : "5m";
    return checkpoints_check(&(settings){.checkpoint = s->out, .checkpoint_every = s->checkpoint_every}, "sweep");
}

int sweep_ask(sweep *w, int argc, char **argv)
{
    sweep_settings *s = &w->asked;
    const char *name;
    *w = (sweep){.progress = progress_open()};
    if (axes_take(&w->axes, argc, argv))
        return GR_USAGE;
    options_end end = options_parse(&sweep_command, s, argc, argv, &name);
    w->helped = end == OPTIONS_HELPED;
    if (end != OPTIONS_GOOD)
        return w->helped ? 0 : GR_USAGE;
    w->recipe = settings_recipe(&s->shared, name, "sweep");
    if (!w->recipe)
        return GR_USAGE;
    stop_catch();
    snprintf(w->usual_out, sizeof w->usual_out, "sweep-%s", w->recipe->name);
    s->out = s->out ? s->out : w->usual_out;
    if (strlen(s->out) > LONGEST_OUT)
        return complain(GR_USAGE, "sweep", "--out %.64s...: the path of the folder has more than %d characters", s->out,
                        LONGEST_OUT);
    int code = check_grid(w);
    if (code == 0)
        code = check_interval(s);
    if (code == 0)
        code = source_check_outside(&s->shared, w->recipe, s->out, "out", "sweep");
    return code ? code : read_shard(w);
}

static int run_sweep(int argc, char **argv)
{
    sweep w;
    const int code = sweep_ask(&w, argc, argv);
    if (code || w.helped)
        return code;
    return (w.asked.dry_run ? sweep_dry_run : sweep_work)(&w);
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static const option grid_options[] = {
    TEXT_OPTION("batch", "LIST", offsetof(sweep_settings, batch),
                "batch sizes, such as 16,32,64; auto: what 'gradus find-batch' advises (default: the recipe's)"),
    TEXT_OPTION("batch-schedule", "LIST", offsetof(sweep_settings, shared.batch_schedule),
                "in its place, batch sizes by epoch for all cells, such as 0:64,30:320,60:1600"),
    TEXT_OPTION("optimizer", "LIST", offsetof(sweep_settings, optimizer),
                "such as sgd,adam; 'gradus train --help' names them all (default: the recipe's)"),
    COUNT_OPTION("seeds", "N", offsetof(sweep_settings, seeds), 1, 10000, "seeds 1 to N for every cell (default: 3)"),
    TEXT_OPTION(
        "shard", "I/N", offsetof(sweep_settings, shard),
        "run only part I of N of the cells, such as 1/3: for several machines, each with its own --out; 'gradus "
        "sweep merge' puts them together"),
    COUNT_OPTION("jobs", "N", offsetof(sweep_settings, jobs), 1, MOST_CELLS, JOBS_HELP),
    BYTES_OPTION(
        "jobs-memory", offsetof(sweep_settings, jobs_memory),
        "with --jobs: the most that cells side by side may take together, such as 4G (default: 0.85 of what is "
        "free)"),
    COUNT_OPTION("time-limit", "SECONDS", offsetof(sweep_settings, time_limit), 1, 1000000000,
                 "kill a cell that takes longer: its row says so, and it runs again only under a longer limit"),
    TEXT_OPTION(
        "checkpoint-every", "N", offsetof(sweep_settings, checkpoint_every),
        "keep the state of the cell at work after every N updates, or with Nm after every N minutes, for a sweep "
        "that is killed to go on from; one that is stopped keeps it anyway (default: 5m)"),
    FLAG_OPTION("dry-run", offsetof(sweep_settings, dry_run),
                "list the cells and what became of each so far; run nothing, write nothing"),
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
    SETTINGS_GROUP("The protocol, the same for all cells or lists", settings_protocol,
                   offsetof(sweep_settings, shared)),
    PARAMETERS_GROUP("The optimizers", offsetof(sweep_settings, shared)),
    SETTINGS_GROUP("The machine", settings_machine, offsetof(sweep_settings, shared)),
    SETTINGS_GROUP("What it takes of the machine", settings_usage, offsetof(sweep_settings, shared)),
    {"Output", out_options, NULL, 0},
    {0}};

const gradus_command sweep_command = {
    .name = "sweep",
    .purpose = "train a whole grid: batch sizes x optimizers x seeds",
    .usage = "sweep RECIPE [options]\nsweep --data FOLDER [options]",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .about =
        "Train a grid of batch sizes x optimizers x seeds, one process per cell, and show test accuracy against "
        "batch size. Results are safe as soon as a cell ends: the same command again runs only what is missing or "
        "failed, from the middle of a cell that was at work; more batch sizes, optimizers or seeds may be asked for. "
        "Running out of memory is a result, not "
        "a failure. Options of the protocol may be lists too, such as --lr 0.01,0.03 --precision fp32,bf16, and every "
        "combination is run: not what the pictures are (--resize, --split-seed, --filter), and --augment with "
        "semicolons between its plans.",
    .examples = "sweep cats-vs-dogs --data ~/datasets --batch 16,32,64,128 --optimizer sgd,adam --seeds 5 --out runs\n"
                "sweep cats-vs-dogs --procedural --batch 16,64 --updates 50 --seeds 2 --out try",
    .groups = groups,
    .run = run_sweep,
};
