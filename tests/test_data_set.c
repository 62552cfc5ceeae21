/* test_data_set.c - the hash, splits and the drawn images. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"

/* A set of n images of 1 x 3 pixels whose labels cycle through the classes; byte b of image i is 9 i + b. */
static gr_dataset *counting_set(gr_context *ctx, int64_t n, int classes)
{
    gr_images *images = gr__images_new(ctx, n, (int64_t[]){1, 3, 3}, classes);
    for (int c = 0; c < classes; c++)
        gr__images_name(ctx, images, c, c == 0 ? "zero" : "other");
    for (int64_t i = 0; i < 9 * n; i++)
        images->pixels[i] = (uint8_t)i;
    for (int64_t i = 0; i < n; i++)
        images->labels[i] = (int32_t)(i % classes);
    return gr__dataset_own(ctx, images);
}

/* Against an independent statement of the hash in Python (integers of any size, masked to 64 bits). */
static void hash_known_answer(void **state)
{
    (void)state;
    char text[17];
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 2, 2);
    gr_images *images = (gr_images *)set->images;
    images->labels[0] = 1;
    images->labels[1] = 0;
    for (int i = 0; i < 9; i++)
        images->pixels[9 + i] = (uint8_t)(250 - i);
    gr_dataset_hash(set, text);
    assert_string_equal(text, "559143b35963280f");
    gr_close(ctx);
}

static void hash_sees_everything(void **state)
{
    (void)state;
    char all[256][17];
    int n = 0;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 4, 2);
    gr_images *images = (gr_images *)set->images;
    gr_dataset_hash(set, all[n++]);
    for (int i = 0; i < 36; i++) { /* one bit of one pixel, high or low */
        images->pixels[i] ^= 1;
        gr_dataset_hash(set, all[n++]);
        images->pixels[i] ^= 1 | 0x80;
        gr_dataset_hash(set, all[n++]);
        images->pixels[i] ^= 0x80;
    }
    for (int i = 0; i < 4; i++) {
        images->labels[i] ^= 1;
        gr_dataset_hash(set, all[n++]);
        images->labels[i] ^= 1;
    }
    gr_dataset_hash(gr__dataset_subset(set, (int64_t[]){1, 0, 2, 3}, 4), all[n++]);
    gr_dataset_hash(gr__dataset_subset(set, (int64_t[]){0, 1, 2}, 3), all[n++]);
    images->height = 3, images->width = 1;
    gr_dataset_hash(set, all[n++]);
    images->height = 1, images->width = 3;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(all[i], all[k]);
    gr_dataset_hash(gr__dataset_subset(set, (int64_t[]){0, 1, 2, 3}, 4), all[n]);
    assert_string_equal(all[n], all[0]); /* the same pictures */
    gr_close(ctx);
}

/* The set lists one class after the other; the parts take the classes in turn. */
static void split_parts_are_disjoint(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 60, 3);
    for (int i = 0; i < 60; i++)
        ((gr_images *)set->images)->labels[i] = i / 20;
    gr_dataset_normalise(set, &(gr_normalise_args){.std = {2}});
    gr_split split = gr_split_per_class(set, 10, 4, 5);
    gr_dataset *parts[] = {split.train, split.val, split.test};
    static const int64_t size[] = {10, 4, 5}, first[] = {0, 10, 14};
    for (int p = 0; p < 3; p++) {
        assert_int_equal(gr_dataset_size(parts[p]), 3 * size[p]);
        assert_true(parts[p]->normalise.std[0] == 2);
        for (int64_t i = 0; i < 3 * size[p]; i++) {
            int64_t class = i % 3, rank = first[p] + i / 3; /* among its class */
            assert_int_equal(gr_dataset_label(parts[p], i), class);
            assert_ptr_equal(gr_dataset_image(parts[p], i), gr_dataset_image(set, 20 * class + rank)); /* shared */
        }
    }
    gr_split again = gr_split_per_class(split.test, 2, 0, 3); /* a part of a part */
    assert_null(again.val);
    assert_ptr_equal(gr_dataset_image(again.train, 0), gr_dataset_image(set, 14));
    assert_ptr_equal(gr_dataset_image(again.test, 1), gr_dataset_image(set, 20 + 16));
    assert_int_equal(gr_close(ctx), 0);
}

/* Of classes of 21, 20 and 20: each part in its share, none in two, the test the same whatever validation takes. */
static void split_by_share(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 61, 3);
    const gr_split a = gr_split_by_share(set, 0.1, 0.25), b = gr_split_by_share(set, 0, 0.25);
    const gr_dataset *const parts[] = {a.test, a.val, a.train};
    const int64_t sizes[] = {15, 6, 40};
    bool seen[61] = {false};
    for (int p = 0; p < 3; p++) {
        assert_int_equal(gr_dataset_size(parts[p]), sizes[p]);
        for (int64_t i = 0; i < sizes[p]; i++) {
            const int64_t row = gr_dataset_row(parts[p], i);
            assert_false(seen[row]);
            seen[row] = true;
            assert_int_equal(gr_dataset_label(parts[p], i), row % 3);
            if (i < 15) /* classes in turn, in the set's order */
                assert_int_equal(gr_dataset_label(parts[p], i), i % 3);
            if (i >= 3)
                assert_true(row > gr_dataset_row(parts[p], i - 3));
        }
    }
    assert_null(b.val);
    for (int64_t i = 0; i < 15; i++)
        assert_int_equal(gr_dataset_row(a.test, i), gr_dataset_row(b.test, i));
    assert_int_equal(gr_dataset_row(a.test, 15), -1);
    gr_close(ctx);
}

static void split_by_share_errors(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 5, 2);
    assert_null(gr_split_by_share(set, 0.1, 0.2).train); /* 2 of the second class, for three parts */
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), "class other has 2 images"));
    gr_clear_error(ctx);
    assert_int_equal(gr_dataset_size(gr_split_by_share(set, 0, 0.01).test), 2); /* at least one of each */
    const double bad[][2] = {{-0.1, 0.2}, {0.5, 0.5}, {0.1, NAN}};
    for (int i = 0; i < 3; i++) {
        assert_null(gr_split_by_share(set, bad[i][0], bad[i][1]).train);
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    gr_close(ctx);
}

static void selected_samples(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 9, 3), *some = gr_dataset_select(set, 3, (int64_t[]){7, 0, 7});
    assert_int_equal(gr_dataset_size(some), 3);
    assert_int_equal(gr_dataset_row(some, 0), 7);
    assert_int_equal(gr_dataset_label(some, 0), 1);
    assert_int_equal(gr_dataset_row(gr_dataset_select(some, 1, (int64_t[]){1}), 0), 0);
    assert_null(gr_dataset_select(NULL, 1, (int64_t[]){0}));
    const int64_t bad[] = {9, -1};
    for (int i = 0; i < 3; i++) {
        assert_null(gr_dataset_select(set, i < 2, &bad[i % 2]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    gr_close(ctx);
}

static void split_errors(void **state)
{
    (void)state;
    static const struct {
        int64_t train, val, test;
        gr_code code;
        const char *text;
    } bad[] = {{18, 2, 1, GR_BAD_DATA, "class zero has 20, 21 are wanted"},
               {0, 0, 0, GR_USAGE, "is nothing"},
               {-1, 2, 2, GR_USAGE, "-1 images"},
               {1, 1, INT64_MAX, GR_USAGE, "images per class"}};
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = counting_set(ctx, 60, 3);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_split split = gr_split_per_class(set, bad[i].train, bad[i].val, bad[i].test);
        assert_true(!split.train && !split.val && !split.test);
        assert_int_equal(gr_error_code(ctx), bad[i].code);
        assert_non_null(strstr(gr_error_text(ctx), bad[i].text));
        assert_null(gr_split_per_class(set, 1, 0, 0).train); /* the error stands */
        gr_clear_error(ctx);
    }
    assert_non_null(gr_split_per_class(set, 20, 0, 0).train);
    assert_null(gr_split_per_class(NULL, 1, 0, 0).train);
    gr_close(ctx);
}

static void nothing_of_nothing(void **state)
{
    (void)state;
    int64_t shape[3] = {1, 1, 1};
    gr_dataset_shape(NULL, shape);
    assert_true(shape[0] == 0 && shape[1] == 0 && shape[2] == 0);
    assert_int_equal(gr_dataset_size(NULL), 0);
    assert_int_equal(gr_dataset_classes(NULL), 0);
    assert_null(gr_dataset_class_name(NULL, 0));
    assert_null(gr_dataset_image(NULL, 0));
    assert_int_equal(gr_dataset_skipped(NULL), 0);
    gr_dataset_normalise(NULL, NULL);
}

static void drawn_images_are_a_function_of_the_seed(void **state)
{
    (void)state;
    char first[17] = "", hash[17];
    for (int threads = 0; threads <= 5; threads++) {
        gr_context *ctx = gr_open(&(gr_options){
            .device = threads ? "cpu" : "ref", .threads = threads ? threads : 2, .seed = (uint64_t)threads});
        gr_dataset *set = gr_procedural(ctx, 31, 20, 27, 7);
        assert_int_equal(gr_dataset_size(set), 31);
        assert_int_equal(gr_dataset_classes(set), 2);
        gr_dataset_hash(set, hash);
        if (threads == 0)
            memcpy(first, hash, sizeof first);
        assert_string_equal(hash, first);
        for (int i = 0; i < 31; i++) /* more images do not change the first ones */
            assert_memory_equal(gr_dataset_image(gr_procedural(ctx, i + 1, 20, 27, 7), i), gr_dataset_image(set, i),
                                1620);
        gr_dataset_hash(gr_procedural(ctx, 31, 20, 27, 8), hash);
        assert_string_not_equal(hash, first);
        gr_close(ctx);
    }
    assert_string_equal(first, /* from one release to the next */
                        "47015521971ed73a");
}

/* Mean of colour c over 5 x 5 pixels from (x, y) on. */
static double patch(const uint8_t *image, int width, int x, int y, int c)
{
    double sum = 0;
    for (int i = 0; i < 25; i++)
        sum += image[((y + i / 5) * width + x + i % 5) * 3 + c];
    return sum / (25 * 255.0);
}

/* How far the middle of a square image is from the ground that its corners let expect. */
static double stands_out(const uint8_t *image, int side)
{
    double sum = 0;
    int far = side - 5, mid = side / 2 - 2;
    for (int c = 0; c < 3; c++) {
        double corners = patch(image, side, 0, 0, c) + patch(image, side, far, 0, c) + patch(image, side, 0, far, c) +
                         patch(image, side, far, far, c);
        sum += fabs(patch(image, side, mid, mid, c) - corners / 4);
    }
    return sum;
}

/* A disc covers the middle, a ring goes round it; their mean colours are the same. */
static void drawn_classes(void **state)
{
    (void)state;
    enum { N = 400, SIDE = 48 };
    double mean[2][3] = {{0}};
    int right = 0;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = gr_procedural(ctx, N, SIDE, SIDE, 3);
    for (int i = 0; i < N; i++) {
        const uint8_t *image = gr_dataset_image(set, i);
        int label = gr_dataset_label(set, i);
        assert_int_equal(label, i % 2);
        for (int k = 0; k < SIDE * SIDE * 3; k++)
            mean[label][k % 3] += image[k] / (255.0 * SIDE * SIDE * N / 2);
        right += (stands_out(image, SIDE) < 0.2) == label;
    }
    for (int c = 0; c < 3; c++) /* standard error of the difference: 0.012 */
        assert_true(fabs(mean[0][c] - mean[1][c]) < 0.04);
    assert_in_range(right, N * 9 / 10, N);
    gr_close(ctx);
}

static void drawn_grey_is_the_red_of_the_colours(void **state)
{
    (void)state;
    int64_t shape[3];
    gr_context *ctx = gr_open(NULL);
    gr_dataset *colours = gr_procedural(ctx, 3, 9, 5, 7), *grey = gr_procedural_grey(ctx, 3, 9, 5, 7);
    gr_dataset_shape(grey, shape);
    assert_memory_equal(shape, ((int64_t[]){9, 5, 1}), sizeof shape);
    for (int i = 0; i < 3 * 9 * 5; i++)
        assert_int_equal(gr_dataset_image(grey, 0)[i], gr_dataset_image(colours, 0)[3 * i]);
    gr_close(ctx);
}

/* Every row lies on its arc as the formula says, up to the noise and half a level; both arcs are walked all along. */
static void table_rows_lie_on_their_arcs(void **state)
{
    (void)state;
    enum { N = 2000, FEATURES = 3 };
    int64_t shape[3];
    double least[3] = {9, 9, 9}, most[3] = {-9, -9, -9};
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_dataset *set = gr_table_classes(ctx, N, FEATURES, 7);
    gr_dataset_shape(set, shape);
    assert_memory_equal(shape, ((int64_t[]){1, FEATURES, 1}), sizeof shape);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = N, .order = GR_IN_ORDER});
    gr_batch batch;
    static double x[N][FEATURES];
    assert_true(gr_loader_next(loader, &batch) && gr_download(batch.x, x));
    for (int i = 0; i < N; i++) {
        double s = i % 2 ? -1 : 1, nearest = 9;
        assert_int_equal(gr_dataset_label(set, i), i % 2);
        for (double t = -1; t <= 1; t += 0.001) { /* in the larger of the two distances, as the noise is a square */
            double dx = fabs(s * x[i][0] - (t - 0.5)), dy = fabs(s * x[i][1] - (1 - 1.5 * t * t));
            nearest = fmin(nearest, fmax(dx, dy));
        }
        assert_true(nearest < 0.35 + 2.0 / 255 + 0.002);
        for (int k = 0; k < FEATURES; k++) {
            least[k] = fmin(least[k], (k < 2 ? s : 1) * x[i][k]);
            most[k] = fmax(most[k], (k < 2 ? s : 1) * x[i][k]);
        }
    }
    for (int k = 0; k < FEATURES; k++) { /* the ends of each range are nearly reached */
        assert_true(fabs(least[k] - (double[]){-1.85, -0.85, -1}[k]) < 0.1);
        assert_true(fabs(most[k] - (double[]){0.85, 1.35, 1}[k]) < 0.1);
    }
    gr_close(ctx);
}

static void table_is_a_function_of_the_seed(void **state)
{
    (void)state;
    char hash[17], other[17];
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = gr_table_classes(ctx, 50, 4, 7), *longer = gr_table_classes(ctx, 60, 4, 7);
    assert_memory_equal(gr_dataset_image(set, 0), gr_dataset_image(longer, 0), 50 * 4);
    gr_dataset_hash(set, hash);
    gr_dataset_hash(gr_table_classes(ctx, 50, 4, 8), other);
    assert_string_not_equal(hash, other);
    assert_string_equal(hash, "0209fe9b5c0e5750"); /* from one release to the next */
    assert_null(gr_table_classes(ctx, 50, 1, 7));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    assert_null(gr_table_classes(ctx, 0, 2, 7));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    assert_null(gr_table_classes(ctx, INT64_MAX / 4, 1000, 7));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    gr_close(ctx);
}

static void drawn_errors(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    static const int64_t bad[][3] = {{0, 8, 8}, {8, 0, 8}, {8, 8, -1}};
    for (int i = 0; i < 3; i++) {
        assert_null(gr_procedural(ctx, bad[i][0], (int)bad[i][1], (int)bad[i][2], 0));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_clear_error(ctx);
    }
    assert_null(gr_procedural(ctx, INT64_MAX / 2, 1000, 1000, 0));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    gr_clear_error(ctx);
    assert_null(gr_procedural(ctx, 1000000, 30000, 30000, 0));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_non_null(strstr(gr_error_text(ctx), "2700000000000000 bytes"));
    gr_clear_error(ctx);
    assert_non_null(gr_procedural(ctx, 2, 1, 1, 0));
    gr_close(ctx);
    assert_null(gr_procedural(NULL, 2, 1, 1, 0));
}

/* It may stand for a set whose pictures are read one by one, as there is no memory for all of them. */
static void a_plan_holds_no_pictures(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.plan_only = true});
    gr_dataset *set = gr_procedural(ctx, 1000000, 3000, 3000, 0);
    assert_int_equal(gr_dataset_size(set), 1000000);
    assert_null(gr_dataset_image(set, 0));
    for (int i = 0; i < 2; i++) /* on the device, which is the host here, they are not copied either */
        assert_non_null(gr_loader_open(set, &(gr_loader_options){.batch = 1, .on_device = i == 1}));
    assert_true(gr_memory_use(ctx).peak < 100000000);
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 1000000});
    assert_true(gr_memory_use(ctx).peak > 27000000000000); /* it tells what such a batch takes */
    gr_batch batch;
    assert_true(gr_loader_next(loader, &batch));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hash_known_answer),
        cmocka_unit_test(hash_sees_everything),
        cmocka_unit_test(split_parts_are_disjoint),
        cmocka_unit_test(split_errors),
        cmocka_unit_test(split_by_share),
        cmocka_unit_test(split_by_share_errors),
        cmocka_unit_test(selected_samples),
        cmocka_unit_test(nothing_of_nothing),
        cmocka_unit_test(drawn_images_are_a_function_of_the_seed),
        cmocka_unit_test(drawn_classes),
        cmocka_unit_test(table_rows_lie_on_their_arcs),
        cmocka_unit_test(table_is_a_function_of_the_seed),
        cmocka_unit_test(drawn_grey_is_the_red_of_the_colours),
        cmocka_unit_test(drawn_errors),
        cmocka_unit_test(a_plan_holds_no_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
