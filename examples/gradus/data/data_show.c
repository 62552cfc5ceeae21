/*
 * data_show.c - gradus data show: a contact sheet of what training sees. A row is a sample: first as it is, then in
 * epoch 1, 2, ... The pictures come out of the loader that training has, so they are those of a run with the same seed,
 * pixel for pixel.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "settings/check.h"
#include "sources/format.h"
#include "sources/source.h"
#include "terminal/output.h"
#include "terminal/write_png.h"

enum { GAP = 2 /* pixels between pictures */, GROUND = 128 /* their grey */, BATCH = 64 };

typedef struct {
    settings run;
    const char *out;
    int64_t samples, epochs;
} show_settings;

static const option show_options[] = {
    TEXT_OPTION("out", "FILE", offsetof(show_settings, out), "write the sheet there (PNG)"),
    COUNT_OPTION("samples", "N", offsetof(show_settings, samples), 1, 64, "rows: the first N samples (default: 8)"),
    COUNT_OPTION("epochs", "N", offsetof(show_settings, epochs), 1, 64, "columns beside the original (default: 8)"),
    TEXT_OPTION("augment", "PLAN", offsetof(show_settings, run.augment), AUGMENT_HELP),
    COUNT_OPTION("resize", "SIDE", offsetof(show_settings, run.resize), 1, 4096,
                 "resize the pictures to SIDE x SIDE by nearest neighbour first (default: the recipe's size)"),
    COUNT_OPTION("seed", "N", offsetof(show_settings, run.seed), 0, INT64_MAX, "as of a run (default: 1)"),
    COUNT_OPTION("split-seed", "N", offsetof(show_settings, run.split_seed), 1, INT64_MAX, "as of a run"),
    CHOICE_OPTION("filter", "NAME", offsetof(show_settings, run.filter), filter_names, FILTER_HELP),
    TEXT_OPTION("data", "PATH", offsetof(show_settings, run.data),
                "where the data sets are, or the set (default: $GRADUS_DATA, else ./datasets)"),
    FLAG_OPTION("procedural", offsetof(show_settings, run.procedural), "built-in pictures drawn by formula instead"),
    {0},
};

/* The sheet, RGB. */
typedef struct {
    int64_t rows, columns, cell[2]; /* pictures; height and width of one's place */
    int64_t height, width;
    uint8_t *pixels; /* [height, width, 3] */
    float *values;   /* of a batch */
} sheet;

static bool sheet_open(sheet *s, int64_t rows, int64_t columns, const int64_t cell[2])
{
    *s = (sheet){.rows = rows, .columns = columns, .cell = {cell[0], cell[1]}};
    s->height = rows * (cell[0] + GAP) + GAP;
    s->width = columns * (cell[1] + GAP) + GAP;
    s->pixels = malloc((size_t)(s->height * s->width * 3));
    s->values = malloc((size_t)(BATCH * cell[0] * cell[1] * 3) * sizeof *s->values);
    if (s->pixels)
        memset(s->pixels, GROUND, (size_t)(s->height * s->width * 3));
    return s->pixels && s->values;
}

static void sheet_close(sheet *s)
{
    free(s->pixels);
    free(s->values);
}

static uint8_t level_of(double value, double mean, double std)
{
    const double level = (value * (std > 0 ? std : 1) + mean) * 255;
    return (uint8_t)lround(fmin(fmax(level, 0), 255));
}

/* Puts picture i of a batch x [n, H, W, C], whose values are in s, into a row and a column. */
static void sheet_put(sheet *s, int64_t row, int64_t column, const gr_tensor *x, int64_t i,
                      const gr_normalise_args *norm)
{
    const int64_t H = gr_dim(x, 1), W = gr_dim(x, 2), C = gr_dim(x, 3);
    for (int64_t h = 0; h < H; h++)
        for (int64_t w = 0; w < W; w++)
            for (int64_t k = 0; k < 3; k++) {
                const int64_t c = C == 3 ? k : 0, top = GAP + row * (s->cell[0] + GAP),
                              left = GAP + column * (s->cell[1] + GAP);
                s->pixels[((top + h) * s->width + left + w) * 3 + k] = level_of(
                    (double)s->values[((i * H + h) * W + w) * C + c], (double)norm->mean[c], (double)norm->std[c]);
            }
}

/* Puts samples first .. first + rows - 1 of a set, as they are in an epoch, into a column. False: the context tells. */
static bool show_epoch(gr_context *ctx, gr_dataset *set, int64_t first, int64_t epoch, int64_t column,
                       const gr_normalise_args *norm, sheet *s)
{
    const int64_t n = gr_dataset_size(set);
    gr_loader *loader =
        gr_loader_open(set, &(gr_loader_options){.batch = n < BATCH ? n : BATCH, .epoch = epoch, .order = GR_IN_ORDER});
    gr_batch batch;
    int64_t at = 0; /* sample of the batch's first row: nothing is shuffled */
    for (; at < first + s->rows && gr_loader_next(loader, &batch); at += batch.samples) {
        const bool wanted = at < first + s->rows && at + batch.samples > first;
        const bool got = wanted && gr_download(batch.x, s->values);
        for (int64_t i = 0; got && i < batch.samples; i++)
            if (at + i >= first && at + i < first + s->rows)
                sheet_put(s, at + i - first, column, batch.x, i, norm);
        gr_step_end(ctx);
    }
    gr_loader_close(loader);
    return gr_ok(ctx);
}

/* One column of the set as it is, then one for each epoch. */
static bool fill_sheet(gr_context *ctx, gr_dataset *plain, gr_dataset *set, const resolved *run, sheet *s)
{
    const int64_t first = gr_augmentation_doubles(run->augment) ? gr_dataset_size(plain) : 0;
    bool good = show_epoch(ctx, plain, 0, 0, 0, &run->recipe->normalise, s);
    for (int64_t column = 1; good && column < s->columns; column++)
        good = show_epoch(ctx, set, first, column - 1, column, &run->recipe->normalise, s);
    return good;
}

static int write_sheet(const sheet *s, const char *path)
{
    output out;
    const int code = output_open(&out, path, "data show");
    if (code)
        return code;
    if (!write_png(out.file, (int)s->width, (int)s->height, s->pixels)) {
        output_drop(&out);
        return complain(GR_NO_MEMORY, "data show", "out of memory for a picture of %lld x %lld", (long long)s->width,
                        (long long)s->height);
    }
    return output_commit(&out, "data show");
}

/* Reads the data and draws. Returns 0 or an exit code, complained of. */
static int show(gr_context *ctx, const show_settings *o, const resolved *run)
{
    resolved plain_run = *run;
    plain_run.augment = "none";
    source data;
    int code = source_open(ctx, &plain_run, "data show", &data);
    if (code)
        return code;
    gr_dataset *plain = data.split.train, *set = gr_augmented(plain, run->augment);
    int64_t before[3], after[3];
    gr_dataset_shape(plain, before);
    gr_dataset_shape(set, after);
    const int64_t cell[2] = {before[0] > after[0] ? before[0] : after[0], before[1] > after[1] ? before[1] : after[1]};
    const int64_t n = gr_dataset_size(plain);
    sheet s;
    if (!gr_ok(ctx))
        return complain_of(ctx, "data show");
    if (!sheet_open(&s, o->samples < n ? o->samples : n, o->epochs + 1, cell))
        code = complain(GR_NO_MEMORY, "data show", "out of memory for the sheet; ask for fewer --samples or --epochs");
    else
        code = fill_sheet(ctx, plain, set, run, &s) ? write_sheet(&s, o->out) : complain_of(ctx, "data show");
    if (code == 0)
        printf("%s: %lld samples of %s, as they are and in %lld epochs of \"%s\", seed %lld\n", o->out,
               (long long)s.rows, data.name, (long long)o->epochs, run->augment, (long long)run->asked.seed);
    sheet_close(&s);
    return code;
}

static int run_show(int argc, char **argv)
{
    show_settings o = {.run = {.seed = 1}, .samples = 8, .epochs = 8};
    const char *name;
    options_end end = options_parse(&data_show_command, &o, argc, argv, &name);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    const recipe *r = settings_recipe(&o.run, name, "data show");
    if (!r)
        return GR_USAGE;
    if (!o.out)
        return complain(GR_USAGE, "data show", "where to? --out SHEET.png");
    if (!ends_in(o.out, ".png"))
        return complain(GR_USAGE, "data show", "--out %s: the sheet is a PNG; give it a name that ends in .png", o.out);
    if (r->format->features)
        return complain(GR_USAGE, "data show", "%s has rows of features, no pictures", r->name);
    const optimizer_set used = settings_optimizers(&o.run, r);
    int code = settings_check(&o.run, r, "data show", &used);
    if (code || (code = output_check(o.out, "data show")))
        return code;
    const resolved run = settings_resolve(&o.run, r);
    gr_context *ctx = gr_open(&(gr_options){.seed = (uint64_t)run.asked.seed});
    code = ctx ? show(ctx, &o, &run) : complain(GR_NO_MEMORY, "data show", "out of memory");
    gr_close(ctx);
    return code;
}

static const option_group groups[] = {{"Options", show_options, NULL, 0}, {0}};

const gradus_command data_show_command = {
    .name = "data show",
    .purpose = "a sheet of the pictures as training sees them",
    .usage = "data show RECIPE --out SHEET.png [options]",
    .about = "Draws a contact sheet of the training pictures: a row for each sample, first as it is, then as training "
             "sees it in epoch 1, 2, ... of a run with this seed. A cutout has the colour that is 0 to the network.",
    .operand = "RECIPE",
    .operand_name = recipe_name,
    .examples = "data show resnet18-cifar --out sheet.png\n"
                "data show cats-vs-dogs --augment flip,rotate=15,scale=0.8..1.2,fill=reflect --out sheet.png",
    .groups = groups,
    .run = run_show,
};
