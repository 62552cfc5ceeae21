/* test_data_folder.c - a folder of class folders: order, what is left out, early stop, the same for any threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/formats/listing.h"
#include "test_data_files.h"

static char root[TEST_PATH];

/* Files that skipped() was told of, one "NAME: REASON\n" after the other. */
static char told[4096];

static void tell(void *user, const char *file, const char *reason)
{
    (void)user;
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s: %s\n", file, reason);
}

/* A PNG of 2 x 1 pixels whose first one is (number, 0, 0). */
static void put_number(const char *name, int number)
{
    test_file f;
    png_two(&f, (unsigned char[]){(unsigned char)number, 0, 0}, (unsigned char[]){0, 9, 0});
    put_file(root, name, f.bytes, f.size);
}

static int number_of(const gr_dataset *set, int64_t i)
{
    return gr_dataset_image(set, i)[0];
}

/* n good files NAME/0.png .. of both classes: numbers 0.. and 100.. */
static void put_good(int n)
{
    char name[64];
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "Dog/%d.png", i);
        put_number(name, 100 + i);
        snprintf(name, sizeof name, "Cat/%d.png", i);
        put_number(name, i);
    }
}

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    told[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

static gr_image_options small(int per_class)
{
    return (gr_image_options){.height = 1, .width = 2, .per_class = per_class, .skipped = tell};
}

static void order_and_classes(void **state)
{
    (void)state;
    put_number("b/10.png", 10);
    put_number("b/9.PNG", 9);
    put_number("b/007.png", 7);
    put_number("a/cat.11.jpeg", 11); /* a PNG all the same */
    put_number("a/cat.2.JPG", 2);
    put_file(root, "a/Thumbs.db", "xyz", 3);
    put_file(root, "a/.hidden.png", "xyz", 3);
    put_file(root, ".cache/x.png", "xyz", 3);
    put_file(root, "notes.txt", "xyz", 3);
    gr_context *ctx = gr_open(NULL);
    gr_image_options options = small(0);
    gr_dataset *set = gr_image_folder(ctx, root, &options);
    assert_string_equal(gr_error_text(ctx), "");
    assert_int_equal(gr_dataset_size(set), 5);
    assert_int_equal(gr_dataset_classes(set), 2);
    assert_string_equal(gr_dataset_class_name(set, 0), "a");
    assert_string_equal(gr_dataset_class_name(set, 1), "b");
    static const int number[] = {2, 11, 7, 9, 10}, label[] = {0, 0, 1, 1, 1};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(number_of(set, i), number[i]);
        assert_int_equal(gr_dataset_label(set, i), label[i]);
        assert_int_equal(gr_dataset_image(set, i)[4], 9);
    }
    int64_t shape[3];
    gr_dataset_shape(set, shape);
    assert_true(shape[0] == 1 && shape[1] == 2 && shape[2] == 3);
    assert_int_equal(gr_dataset_skipped(set), 0);
    assert_string_equal(told, "");
    assert_int_equal(gr_close(ctx), 0);
}

static void names_compare_by_number(void **state)
{
    (void)state;
    static const char *const rising[] = {
        "",   "0.jpg", "1.jpg", "01.jpg.", "2.jpg", "10.jpg",  "99999999999999999999999.jpg", "a", "a-1",
        "a1", "a1b2",  "a1b10", "a02",     "b",     "\xc3\xa4"};
    enum { N = sizeof rising / sizeof *rising };
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            int order = gr__compare_names(rising[i], rising[k]);
            assert_true(i < k ? order < 0 : i > k ? order > 0 : order == 0);
        }
    assert_true(gr__compare_names("07", "7") < 0 && gr__compare_names("7", "07") > 0);
}

/* 200 files of each class, of which Cat/3 and Cat/150 and Dog/0 are bad: 0.75 %. */
static void leaves_bad_files_out(void **state)
{
    (void)state;
    put_good(200);
    put_file(root, "Cat/3.png", "", 0);
    put_file(root, "Cat/150.png", "just text\n", 10);
    put_file(root, "Dog/0.png", tiny_jpeg, sizeof tiny_jpeg - 30);
    gr_context *ctx = gr_open(NULL);
    gr_image_options options = small(0);
    gr_dataset *set = gr_image_folder(ctx, root, &options);
    assert_string_equal(gr_error_text(ctx), "");
    assert_int_equal(gr_dataset_size(set), 397);
    assert_int_equal(gr_dataset_skipped(set), 3);
    assert_string_equal(told, "Cat/3.png: an empty file\n"
                              "Cat/150.png: neither a JPEG nor a PNG, by its first bytes\n"
                              "Dog/0.png: a truncated JPEG (it has no end marker)\n");
    for (int i = 0; i < 397; i++) {
        int number = i < 3 ? i : i < 149 ? i + 1 : i < 198 ? i + 2 : (100 + i - 197) % 256;
        assert_int_equal(number_of(set, i), number);
        assert_int_equal(gr_dataset_label(set, i), i >= 198);
    }
    gr_close(ctx);
}

static void one_percent_and_no_more(void **state)
{
    (void)state;
    put_good(100);
    put_file(root, "Cat/3.png", "", 0);
    put_file(root, "Dog/7.png", "", 0);
    gr_context *ctx = gr_open(NULL);
    gr_image_options options = small(0);
    assert_non_null(gr_image_folder(ctx, root, &options)); /* 2 of 200 */
    put_file(root, "Dog/8.png", "", 0);
    told[0] = '\0';
    assert_null(gr_image_folder(ctx, root, &options));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), "3 of 200 image files"));
    assert_non_null(strstr(gr_error_text(ctx), "the first is Cat/3.png: an empty file"));
    assert_non_null(strstr(told, "Dog/8.png")); /* told of all of them before it gives up */
    gr_clear_error(ctx);
    options.allow_bad = 0.02;
    assert_int_equal(gr_dataset_size(gr_image_folder(ctx, root, &options)), 197);
    gr_close(ctx);
}

/* The shortest run of files that gives enough: what lies behind it is neither read nor counted. */
static void stops_early(void **state)
{
    (void)state;
    put_good(12);
    put_file(root, "Cat/1.png", "", 0);
    put_file(root, "Cat/5.png", "", 0);
    put_file(root, "Cat/6.png", "", 0);
    put_file(root, "Cat/9.png", "", 0);
    put_file(root, "Dog/11.png", "", 0);
    gr_context *ctx = gr_open(NULL);
    gr_image_options options = small(5);
    options.allow_bad = 1;
    gr_dataset *set = gr_image_folder(ctx, root, &options);
    static const int number[] = {0, 2, 3, 4, 7, 100, 101, 102, 103, 104};
    assert_int_equal(gr_dataset_size(set), 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(number_of(set, i), number[i]);
    assert_int_equal(gr_dataset_skipped(set), 3);
    assert_string_equal(told, "Cat/1.png: an empty file\nCat/5.png: an empty file\nCat/6.png: an empty file\n");
    options.per_class = 9; /* Cat has 8, Dog 11 */
    set = gr_image_folder(ctx, root, &options);
    assert_int_equal(gr_dataset_size(set), 8 + 9);
    assert_int_equal(number_of(set, 7), 11);
    assert_int_equal(number_of(set, 8), 100);
    assert_int_equal(gr_dataset_label(set, 8), 1);
    gr_close(ctx);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    put_good(40);
    for (int i = 0; i < 40; i += 3) {
        char name[64];
        snprintf(name, sizeof name, "%s/%d.png", i % 2 ? "Cat" : "Dog", i);
        put_file(root, name, "bad", 3);
    }
    char hash[17], first_hash[17] = "", first_told[sizeof told] = "";
    for (int threads = 0; threads <= 5; threads++) { /* 0: the ref device */
        gr_context *ctx = gr_open(&(gr_options){.device = threads ? "cpu" : "ref", .threads = threads ? threads : 3});
        gr_image_options options = small(17);
        options.allow_bad = 1;
        options.split_seed = 5;
        told[0] = '\0';
        gr_dataset *set = gr_image_folder(ctx, root, &options);
        assert_int_equal(gr_dataset_size(set), 34);
        gr_dataset_hash(set, hash);
        if (threads == 0) {
            memcpy(first_hash, hash, sizeof hash);
            memcpy(first_told, told, sizeof told);
        }
        assert_string_equal(hash, first_hash);
        assert_string_equal(told, first_told);
        gr_close(ctx);
    }
    assert_true(strlen(first_told) > 0);
}

static void split_seed_permutes(void **state)
{
    (void)state;
    put_good(30);
    int first[60], seen[256] = {0}, moved = 0, alike = 0;
    gr_context *ctx = gr_open(NULL);
    for (int seed = 1; seed <= 2; seed++) {
        gr_image_options options = small(0);
        options.split_seed = (uint64_t)seed;
        gr_dataset *set = gr_image_folder(ctx, root, &options);
        assert_int_equal(gr_dataset_size(set), 60);
        for (int i = 0; i < 60; i++) {
            int number = number_of(set, i);
            assert_int_equal(gr_dataset_label(set, i), i >= 30);
            assert_int_equal(number >= 100, i >= 30);
            seen[number]++;
            moved += seed == 1 && number != (i < 30 ? i : 70 + i);
            alike += seed == 2 && number == first[i];
            first[i] = number;
        }
    }
    for (int i = 0; i < 30; i++) {
        assert_int_equal(seen[i], 2);
        assert_int_equal(seen[100 + i], 2);
    }
    assert_true(moved > 40 && alike < 20);
    for (int i = 0, same = 0; i < 30; i++) { /* the classes have orders of their own */
        same += first[i] == first[30 + i] - 100;
        assert_true(same < 15);
    }
    gr_close(ctx);
}

/* A real decode on the way through: the JPEG, resized. */
static void decodes_and_resizes(void **state)
{
    (void)state;
    put_file(root, "a/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "b/1.jpg", tiny_progressive_jpeg, sizeof tiny_progressive_jpeg);
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = gr_image_folder(ctx, root, &(gr_image_options){.height = 8, .width = 12});
    assert_string_equal(gr_error_text(ctx), "");
    for (int i = 0; i < 2; i++)
        for (int y = 0; y < 8; y++)
            for (int x = 0; x < 12; x++) { /* pixel (2 x + 1, 2 y + 1) of the source */
                const uint8_t *p = gr_dataset_image(set, i) + (y * 12 + x) * 3;
                assert_true(abs(p[0] - 10 * (2 * x + 1)) < 16 && abs(p[1] - 15 * (2 * y + 1)) < 16);
            }
    gr_close(ctx);
}

int main(void)
{
#define FOLDER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {FOLDER_TEST(order_and_classes),    cmocka_unit_test(names_compare_by_number),
                                       FOLDER_TEST(leaves_bad_files_out), FOLDER_TEST(one_percent_and_no_more),
                                       FOLDER_TEST(stops_early),          FOLDER_TEST(same_for_any_threads),
                                       FOLDER_TEST(split_seed_permutes),  FOLDER_TEST(decodes_and_resizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
