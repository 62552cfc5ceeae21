/*
 * test_augment.c - augmentation plans: their language, what PIL makes of them, the same bytes however they are batched.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/safetensors.h"
#include "data/augmentation/augment.h"

enum { SEED = 1 };

/* --- the language ------------------------------------------------------------------------------------------------- */

static void reads_plans(void **state)
{
    (void)state;
    gr__plan p;
    char reason[GR__PLAN_REASON];
    assert_true(
        gr__plan_parse("flip=alternate,translate=4,rotate=15,shear=-10..5,scale=0.9..1.1,resize=240x320,crop=200@3:0,"
                       "crop=100@center,crop=9x8,cutout=16,fill=reflect,filter=bicubic-resize,double",
                       &p, reason));
    assert_int_equal(p.n, 9);
    const gr__step *s = p.steps;
    assert_true(s[0].kind == GR__FLIP && s[0].flip == GR__FLIP_ALTERNATE);
    assert_true(s[1].kind == GR__TRANSLATE && s[1].high == 4);
    assert_true(s[2].kind == GR__ROTATE && s[2].low == -15 && s[2].high == 15);
    assert_true(s[3].kind == GR__SHEAR && s[3].low == -10 && s[3].high == 5);
    assert_true(s[4].kind == GR__SCALE && s[4].low == 0.9 && s[4].high == 1.1);
    assert_true(s[5].kind == GR__RESIZE && s[5].size[0] == 240 && s[5].size[1] == 320);
    assert_true(s[6].kind == GR__CROP && s[6].size[1] == 200 && s[6].at[0] == 3 && s[6].at[1] == 0 && !s[6].centred);
    assert_true(s[7].centred && s[8].at[0] == GR__ANYWHERE_INSIDE && s[8].size[0] == 9 && s[8].size[1] == 8);
    assert_true(p.cutout == 16 && p.fill == GR_FILL_REFLECT && p.filter == GR_BICUBIC_RESIZE && p.doubled);
    assert_true(gr__plan_parse("scale=1..2,flip", &p, reason) && p.steps[0].low == 1 && p.steps[0].high == 2);
    assert_true(p.steps[1].flip == GR__FLIP_RANDOM && p.filter == GR_BILINEAR && p.fill == GR_FILL_ZERO && !p.doubled);
    assert_true(gr__plan_parse("", &p, reason) && p.n == 0);
    assert_true(gr__plan_parse("none", &p, reason) && p.n == 0);
}

static void refuses_plans(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *says;
    } wrong[] = {
        {"flp", "\"flp\" is no step; there are flip, translate=N"},
        {"flip,,crop=3", "a comma too many"},
        {"flip, crop=3", "\" crop=3\" has a space in it; write a plan without any"},
        {"flip,", "a comma too many"},
        {",", "a comma too many"},
        {"flip,none", "\"none\" beside other steps"},
        {"flip=up", "flip is random, alternate or always"},
        {"translate", "\"translate\" needs a value, such as translate=4"},
        {"translate=", "\"translate=\": wanted is a number of whole pixels"},
        {"translate=0", "whole pixels from 1 to 4096"},
        {"translate=1.5", "whole pixels"},
        {"shift=1", "ROWS:COLUMNS, such as shift=1:-2"},
        {"shift=1:5000", "ROWS:COLUMNS"},
        {"shift=1:2:3", "ROWS:COLUMNS"},
        {"rotate", "such as rotate=15"},
        {"rotate=left", "wanted is a number, or two as A..B, such as rotate=15"},
        {"rotate=1..", "wanted is a number"},
        {"rotate=5..4", "runs backwards"},
        {"rotate=-3", "runs backwards"},
        {"rotate=361", "goes too far; rotate lies between -360 and 360"},
        {"rotate=nan", "wanted is a number"},
        {"rotate=1e999", "wanted is a number"},
        {"shear", "such as shear=10"},
        {"shear=85", "shear lies between -80 and 80"},
        {"scale", "such as scale=0.9..1.1"},
        {"scale=0", "scale lies between 0.1 and 10"},
        {"scale=0.9..11", "scale lies between 0.1 and 10"},
        {"scale=0.9..1.1x", "such as scale=0.9..1.1"},
        {"resize=0", "wanted is a side from 1 to 4096 or HxW"},
        {"resize=3x", "wanted is a side"},
        {"resize=3@center", "wanted is a side"},
        {"crop", "such as crop=200"},
        {"crop=4097", "wanted is a side from 1 to 4096"},
        {"crop=3@middle", "then nothing, @center or @ROW:COLUMN"},
        {"crop=3@1", "@ROW:COLUMN"},
        {"crop=3@1:2:3", "@ROW:COLUMN"},
        {"crop=3@-1:2", "@ROW:COLUMN"},
        {"cutout=3x4", "the side of a square in pixels"},
        {"cutout=3,cutout=4", "cutout is there already"},
        {"fill=black", "fill is zero, edge or reflect"},
        {"fill=edge,fill=edge", "fill is there already"},
        {"filter=lanczos", "filter is nearest, bilinear, bicubic or bicubic-resize"},
        {"double=2", "double stands alone"},
        {"double,double", "double is there already"},
        {"flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip,flip", "more than 15 steps"},
        {"translate=4444444444444444444444444444444444444444444444444444444444444", "too long"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
        assert_false(gr_augmentation_check(ctx, wrong[i].plan));
        if (!strstr(gr_error_text(ctx), wrong[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].plan, gr_error_text(ctx), wrong[i].says);
        assert_int_equal(gr_close(ctx), GR_USAGE);
    }
}

/* --- sets --------------------------------------------------------------------------------------------------------- */

/* A set of n pictures [height, width, 3] of noise. */
static gr_dataset *noise(gr_context *ctx, int64_t n, int64_t height, int64_t width)
{
    gr_images *images = gr__images_new(ctx, n, (int64_t[]){height, width, 3}, 2);
    uint32_t x = 12345;
    for (int64_t i = 0; i < n * height * width * 3; i++)
        images->pixels[i] = (uint8_t)((x = x * 1664525 + 1013904223) >> 24);
    for (int64_t i = 0; i < n; i++)
        images->labels[i] = (int32_t)(i % 2);
    return gr__dataset_own(ctx, images);
}

static void refuses_sets(void **state)
{
    (void)state;
    static const struct {
        const char *plan, *says;
    } wrong[] = {
        {"crop=9", "the crop of 9 x 9 does not lie in a picture of 8 x 10; take a smaller one, or resize= before it"},
        {"crop=4@5:0", "the crop of 4 x 4 does not lie"},
        {"resize=20,crop=8,crop=9", "a picture of 8 x 8"},
        {"cutout=11", "a cutout of 11 x 11 is larger than the picture of 8 x 10"},
        {"crop=4,cutout=5", "larger than the picture of 4 x 4"},
        {"double,crop=4", "double keeps the pictures of 8 x 10 beside those of 4 x 4"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
        assert_null(gr_augmented(noise(ctx, 2, 8, 10), wrong[i].plan));
        if (!strstr(gr_error_text(ctx), wrong[i].says))
            fail_msg("%s: \"%s\" lacks \"%s\"", wrong[i].plan, gr_error_text(ctx), wrong[i].says);
        assert_int_equal(gr_close(ctx), GR_USAGE);
    }
    for (int what = 0; what < 3; what++) {
        gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
        gr_dataset *set = gr_augmented(noise(ctx, 4, 8, 10), "flip");
        if (what == 0)
            assert_null(gr_augmented(set, "flip"));
        else if (what == 1)
            assert_null(gr__dataset_range(set, 0, 1));
        else
            assert_false(gr_dataset_resize(set, 4, 4));
        assert_int_equal(gr_close(ctx), GR_USAGE);
    }
}

static void shapes_of_sets(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_dataset *set = noise(ctx, 3, 8, 10);
    int64_t shape[3];
    gr_dataset_shape(gr_augmented(set, "resize=20,flip,crop=6x7"), shape);
    assert_true(shape[0] == 6 && shape[1] == 7 && shape[2] == 3);
    gr_dataset_shape(gr_augmented_for_evaluation(set, "resize=20,flip,crop=6x7,double"), shape);
    assert_true(shape[0] == 6 && shape[1] == 7 && shape[2] == 3);
    assert_ptr_equal(gr_augmented(set, "none"), set);
    assert_ptr_equal(gr_augmented(set, NULL), set);
    assert_ptr_equal(gr_augmented_for_evaluation(set, "flip,translate=2,cutout=3,double"), set);
    assert_int_equal(gr_dataset_size(gr_augmented(set, "flip,double")), 6);
    assert_true(gr_augmentation_doubles("flip,double") && !gr_augmentation_doubles("flip") &&
                !gr_augmentation_doubles(NULL));
    assert_int_equal(gr_close(ctx), 0);
}

/* --- PIL ---------------------------------------------------------------------------------------------------------- */

/* The level that a value of x/255 is. */
static int level_of(double value)
{
    const int level = (int)lround(value * 255);
    assert_true(fabs(value * 255 - level) < 1e-3);
    return level;
}

/* One golden against the reference: how many levels differ, and by how much at most. */
static int64_t compare(gr_context *ctx, const gr_saved_tensor *picture, const gr_saved_tensor *golden, int *most)
{
    int epoch, sample, at;
    gr__plan plan;
    char reason[GR__PLAN_REASON];
    assert_int_equal(sscanf(golden->name, "%d %d %n", &epoch, &sample, &at), 2);
    assert_true(gr__plan_parse(golden->name + at, &plan, reason));
    const gr__plan_key key = {SEED, epoch, sample};
    int32_t map[GR_MAP];
    int64_t size[2], differ = 0;
    assert_true(gr__plan_size(&plan, picture->shape, size, reason));
    assert_true(size[0] == golden->shape[0] && size[1] == golden->shape[1]);
    gr__plan_draw(&plan, &key, picture->shape, map);
    gr_tensor *x = gr_tensor_new(ctx, GR_U8, 4, (int64_t[]){1, picture->shape[0], picture->shape[1], 3});
    gr_tensor *m = gr_tensor_new(ctx, GR_I32, 2, (int64_t[]){1, GR_MAP});
    assert_true(gr_upload(x, picture->data) && gr_upload(m, map));
    gr_tensor *y = gr_augment(
        x, m, &(gr_augment_args){.size = {(int)size[0], (int)size[1]}, .filter = plan.filter, .fill = plan.fill});
    double *values = malloc((size_t)gr_count(y) * sizeof *values);
    assert_true(gr_download(y, values));
    *most = 0;
    for (int64_t i = 0; i < gr_count(y); i++) {
        const int apart = abs(level_of(values[i]) - ((const uint8_t *)golden->data)[i]);
        differ += apart != 0;
        *most = apart > *most ? apart : *most;
    }
    free(values);
    gr_step_end(ctx);
    return differ;
}

/* Exactly, but for one level where bilinear and bicubic read between pixels: PIL cuts off there, we round. */
static void agrees_with_pil(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_safetensors file;
    assert_true(gr__safetensors_read(ctx, GRADUS_TESTS "/augment/golden.safetensors", &file));
    const gr_saved_tensor *picture = NULL;
    for (int i = 0; i < file.n; i++)
        if (!strcmp(file.tensors[i].name, "picture"))
            picture = &file.tensors[i];
    assert_non_null(picture);
    for (int i = 0; i < file.n; i++) {
        const gr_saved_tensor *golden = &file.tensors[i];
        if (golden == picture)
            continue;
        const bool between =
            !strstr(golden->name, "bicubic-resize") &&
            (strstr(golden->name, "linear") || strstr(golden->name, "cubic") || strstr(golden->name, "resize"));
        int most;
        const int64_t differ = compare(ctx, picture, golden, &most);
        if (most > (between ? 1 : 0))
            fail_msg("%s: %d levels differ, by up to %d", golden->name, (int)differ, most);
    }
    assert_true(file.n > 30);
    gr__safetensors_free(&file);
    assert_int_equal(gr_close(ctx), 0);
}

/* --- the same bytes ----------------------------------------------------------------------------------------------- */

enum { PICTURES = 500, SIDE = 8, BYTES = SIDE * SIDE * 3 * 4 };

static const char everything[] =
    "flip,translate=2,rotate=15,shear=10,scale=0.9..1.1,cutout=3,fill=reflect,filter=bicubic";

/* A way to make the same batches. */
typedef struct {
    const char *device;
    int threads;
    gr_loader_options options;
} way;

/* Two epochs of floats by sample [2, PICTURES, SIDE*SIDE*3], for the caller to free. */
static unsigned char *epochs_of(const way *w, const char *plan)
{
    const int64_t batch = w->options.batch;
    gr_loader_options options = w->options;
    gr_context *ctx = gr_open(&(gr_options){.device = w->device, .threads = w->threads, .seed = SEED});
    gr_dataset *set = noise(ctx, PICTURES, SIDE, SIDE);
    for (int64_t i = 0; i < PICTURES; i++) /* so that a batch tells which they are */
        set->images->labels[i] = (int32_t)i;
    gr_loader *loader = gr_loader_open(gr_augmented(set, plan), &options);
    unsigned char *bytes = calloc(2 * PICTURES, BYTES);
    float *x = malloc((size_t)batch * BYTES);
    int32_t *y = malloc((size_t)batch * sizeof *y);
    gr_batch b;
    for (int epoch = 0; epoch < 2; epoch++)
        while (gr_loader_next(loader, &b)) {
            assert_true(gr_download(b.x, x) && gr_download(b.y, y));
            for (int64_t i = 0; i < b.samples; i++)
                memcpy(bytes + ((int64_t)epoch * PICTURES + y[i]) * BYTES, x + i * (BYTES / 4), BYTES);
            gr_step_end(ctx);
        }
    assert_string_equal(gr_error_text(ctx), "");
    free(x);
    free(y);
    gr_close(ctx);
    return bytes;
}

static void same_bytes(void **state)
{
    (void)state;
    static const way ways[] = {{"cpu", 1, {.batch = 1}},
                               {"cpu", 2, {.batch = 32}},
                               {"cpu", 1, {.batch = 32, .last = GR_PAD}},
                               {"cpu", 2, {.batch = 500}},
                               {"cpu", 1, {.batch = 32, .micro_batch = 5}},
                               {"cpu", 1, {.batch = 32, .workers = 1}},
                               {"cpu", 1, {.batch = 32, .workers = 2}},
                               {"cpu", 1, {.batch = 32, .workers = 7, .prefetch = 5}},
                               {"cpu", 2, {.batch = 500, .on_device = true}},
                               {"simt", 1, {.batch = 500}},
                               {"simt", 1, {.batch = 32, .workers = 2, .on_device = true}}};
    unsigned char *first = epochs_of(&ways[0], everything);
    assert_memory_not_equal(first, first + PICTURES * BYTES, PICTURES * BYTES); /* the epochs differ */
    for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
        unsigned char *other = epochs_of(&ways[i], everything);
        if (memcmp(first, other, 2 * PICTURES * BYTES))
            fail_msg("other bytes in way %d, on %s with batches of %d", (int)i, ways[i].device,
                     (int)ways[i].options.batch);
        free(other);
    }
    free(first);
}

static void twice_is_once(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"flip=always,flip=always", "crop=8@0:0"},
                                           {"rotate=90..90,rotate=-90..-90", "crop=8@0:0"},
                                           {"resize=16,resize=8", "crop=8@0:0"},
                                           {"rotate=180..180,rotate=180..180", "rotate=360..360"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const way w = {"cpu", 1, {.batch = 100}};
        unsigned char *once = epochs_of(&w, pairs[i][1]), *twice = epochs_of(&w, pairs[i][0]);
        assert_memory_equal(once, once + PICTURES * BYTES, PICTURES * BYTES);
        assert_memory_equal(once, twice, 2 * PICTURES * BYTES);
        free(once);
        free(twice);
    }
}

/* A shift by whole pixels moves them as they are; the fill is what comes in, here the picture's own, mirrored. */
static void shifts_whole_pixels(void **state)
{
    (void)state;
    enum { WIDE = 8, SAMPLES = 4 };
    float x[2][SAMPLES][WIDE][WIDE][3];
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = gr_procedural(ctx, SAMPLES, WIDE, WIDE, 1);
    for (int k = 0; k < 2; k++) {
        gr_batch batch;
        gr_loader *loader = gr_loader_open(k ? gr_augmented(set, "shift=1:-2,fill=reflect") : set,
                                           &(gr_loader_options){.batch = SAMPLES, .order = GR_IN_ORDER});
        assert_true(gr_loader_next(loader, &batch) && gr_download(batch.x, x[k]));
        gr_loader_close(loader);
    }
    for (int n = 0; n < SAMPLES; n++)
        for (int h = 0; h < WIDE; h++)
            for (int w = 0; w < WIDE; w++) {
                const int from_h = h == 0 ? 1 : h - 1, from_w = w + 2 < WIDE ? w + 2 : 2 * (WIDE - 1) - (w + 2);
                for (int c = 0; c < 3; c++)
                    assert_true(fabsf(x[1][n][h][w][c] - x[0][n][from_h][from_w][c]) < 1e-6f);
            }
    assert_int_equal(gr_close(ctx), 0);
}

/* Half of the samples, one after the other epoch; a sample by chance is not always the same. */
static void flips_in_turn(void **state)
{
    (void)state;
    gr__plan plan;
    char reason[GR__PLAN_REASON];
    const int64_t size[2] = {4, 4};
    assert_true(gr__plan_parse("flip=alternate", &plan, reason));
    int flipped = 0;
    for (int64_t sample = 0; sample < 1000; sample++)
        for (int64_t epoch = 0; epoch < 4; epoch++) {
            int32_t map[GR_MAP], next[GR_MAP];
            gr__plan_draw(&plan, &(gr__plan_key){SEED, epoch, sample}, size, map);
            gr__plan_draw(&plan, &(gr__plan_key){SEED, epoch + 1, sample}, size, next);
            assert_true((map[0] == 1 && next[0] == -1) || (map[0] == -1 && next[0] == 1));
            flipped += map[0] < 0 && epoch == 0;
        }
    assert_in_range(flipped, 440, 560);
}

/* A doubled set: the samples as they are, then the same ones by the plan. */
static void check_double(bool on_device)
{
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_dataset *set = noise(ctx, 3, 4, 4);
    gr_loader *loader = gr_loader_open(gr_augmented(set, "flip=always,double"),
                                       &(gr_loader_options){.batch = 6, .on_device = on_device, .order = GR_IN_ORDER});
    gr_batch b;
    double x[6 * 48];
    int32_t y[6];
    assert_true(gr_loader_next(loader, &b) && b.samples == 6 && gr_download(b.x, x) && gr_download(b.y, y));
    for (int64_t i = 0; i < 6 * 48; i++) {
        const int64_t n = i / 48, h = i / 12 % 4, w = i / 3 % 4, c = i % 3, from = n < 3 ? w : 3 - w;
        assert_int_equal(level_of(x[i]), gr_dataset_image(set, n % 3)[(h * 4 + from) * 3 + c]);
        assert_int_equal(y[n], n % 3 % 2);
    }
    assert_int_equal(gr_close(ctx), 0);
}

static void doubles_sets(void **state)
{
    (void)state;
    check_double(false);
    check_double(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_plans),    cmocka_unit_test(refuses_plans),       cmocka_unit_test(refuses_sets),
        cmocka_unit_test(shapes_of_sets), cmocka_unit_test(agrees_with_pil),     cmocka_unit_test(same_bytes),
        cmocka_unit_test(twice_is_once),  cmocka_unit_test(shifts_whole_pixels), cmocka_unit_test(flips_in_turn),
        cmocka_unit_test(doubles_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
