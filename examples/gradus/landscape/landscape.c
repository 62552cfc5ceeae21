/* landscape.c - gradus landscape: the loss around trained weights, and between them. */
#include "commands.h"
#include "landscape/walk.h"
#include "terminal/json_memory.h"
#include "terminal/output.h"
#include "terminal/plot.h"
#include "terminal/stop.h"
#include "train/row.h"

/* --- what comes out ----------------------------------------------------------------------------------------------- */

static int write_file(const landscape *l, const char *name, const json_t *o)
{
    char path[3072];
    output out;
    snprintf(path, sizeof path, "%s/%s", l->asks->out, name);
    const int code = output_open(&out, path, LANDSCAPE);
    if (code)
        return code;
    if (o) {
        json_dumpf(o, out.file, ROW_FORMAT);
        fputc('\n', out.file);
    } else {
        surface_write_csv(&l->surface, out.file);
    }
    return output_commit(&out, LANDSCAPE);
}

static int tell(landscape *l)
{
    l->surface.data = l->data.name;
    l->surface.statistics = statistics_names[l->asks->statistics.value];
    l->surface.batch = l->run.batch;
    l->surface.seed = l->asks->directions;
    json_t *o = surface_json(&l->surface);
    int code =
        !o || json_memory_failed() ? complain(GR_NO_MEMORY, LANDSCAPE, "out of host memory for what was found") : 0;
    if (code == 0)
        code = write_file(l, "landscape.json", o);
    if (code == 0)
        code = write_file(l, "landscape.csv", NULL);
    if (code == 0 && l->asks->run.json) {
        json_dumpf(o, stdout, ROW_FORMAT);
        putchar('\n');
    } else if (code == 0) {
        surface_print(&l->surface);
    }
    json_decref(o);
    if (code == 0)
        plot_landscape(l->asks->out);
    return code;
}

/* --- the command -------------------------------------------------------------------------------------------------- */

static int run_landscape(int argc, char **argv)
{
    landscape_asks asks = {.out = LANDSCAPE, .directions = 1, .run = {.seed = 1}};
    landscape l = {.asks = &asks};
    const options_end end = options_parse(&landscape_command, &asks, argc, argv, l.files);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!l.files[0])
        return complain(GR_USAGE, LANDSCAPE, "which weights? gradus landscape A [B [C]]");
    if (asks.run.data && asks.run.procedural)
        return complain(GR_USAGE, LANDSCAPE, "--data and --procedural exclude each other; give one of them");
    stop_catch();
    l.ctx = settings_open(&asks.run, false);
    int code = walk(&l);
    if (code == 0)
        code = tell(&l);
    walk_close(&l);
    return code;
}

#define RUN(field) offsetof(landscape_asks, run.field)

static const option landscape_options[] = {
    COUNT_OPTION("steps", "N", offsetof(landscape_asks, steps), 1, 1000,
                 "places from A to B (default: 8; of a plane 4, of a random plane 5 to each side)"),
    POSITIVE_OPTION("reach", "X", offsetof(landscape_asks, reach),
                    "how far to look beyond A and B, in lengths of the way between them (default: 1; of a plane 0.5); "
                    "of a random plane to each side, in lengths of the weights (default: 1)"),
    COUNT_OPTION("samples", "N", offsetof(landscape_asks, samples), 1, INT64_MAX,
                 "of each part at most N samples, evenly spread (default: all)"),
    CHOICE_OPTION("statistics", "HOW", offsetof(landscape_asks, statistics), statistics_names,
                  "batch normalisation's running statistics: interpolated, as the weights are, or estimated anew at "
                  "each place, from 64 batches of training (default: interpolated)"),
    COUNT_OPTION("directions", "SEED", offsetof(landscape_asks, directions), 0, INT64_MAX / 4,
                 "draws the directions of a random plane (default: 1)"),
    COUNT_OPTION("batch", "N", RUN(batch), 1, MAX_BATCH,
                 "rows at a time; with those of the run its losses come out bit for bit (default: the recipe's)"),
    TEXT_OPTION("recipe", "RECIPE", offsetof(landscape_asks, recipe),
                "whose network the weights are of, where the files do not say"),
    COUNT_OPTION("split-seed", "N", RUN(split_seed), 1, INT64_MAX, "of the runs, where they had one"),
    DEVICE_OPTION(RUN(device)),
    {0},
};

static const option out_options[] = {
    TEXT_OPTION("out", "FOLDER", offsetof(landscape_asks, out),
                "for landscape.json, landscape.csv and the picture (default: landscape)"),
    FLAG_OPTION("json", RUN(json), "print one line of JSON"),
    {0},
};

static const option_group groups[] = {{"Where to look", landscape_options, NULL, 0},
                                      SETTINGS_GROUP("The machine", settings_machine, offsetof(landscape_asks, run)),
                                      {"Output", out_options, NULL, 0},
                                      {0}};

const gradus_command landscape_command = {
    .name = LANDSCAPE,
    .purpose = "the loss around a trained network, and between two or three",
    .usage = "landscape A B [options]\nlandscape A [B C] [options]",
    .operand = "WEIGHTS",
    .operands = MOST_TERMS,
    .about =
        "Tell loss and accuracy of the training and the test samples along the straight line through two files of "
        "weights, at x A is 0 and B is 1; on the plane through three, with A at 0 0, B at 1 0 and C at 0 1; or on a "
        "plane of two random directions around one, each filter scaled as the weights are. At the weights themselves "
        "it is what their runs ended with. A table, or what stands out of a plane, goes to stdout, a picture into "
        "the folder.",
    .examples = "landscape small.safetensors large.safetensors --data ~/datasets --out minima\n"
                "landscape small.safetensors --samples 2000 --out around",
    .groups = groups,
    .run = run_landscape,
};
