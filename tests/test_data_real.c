/*
 * test_data_real.c - the real image sets under $GRADUS_DATA, where there are any: PetImages/{Cat,Dog} and CIFAR-10.
 * Without the variable the test counts as skipped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/data.h"

static char told[4096];

static void tell(void *user, const char *file, const char *reason)
{
    (void)user;
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s: %s\n", file, reason);
}

/* Path of a folder in the data root; skips the test when it is not there. */
static const char *folder(const char *name)
{
    static char path[4096];
    struct stat status;
    snprintf(path, sizeof path, "%s/%s", getenv("GRADUS_DATA"), name);
    if (stat(path, &status) != 0)
        skip();
    return path;
}

/* Cat/666.jpg is an empty file in every copy of the set, and no Thumbs.db is taken for an image. */
static void pets(void **state)
{
    (void)state;
    char hash[3][17];
    gr_image_options options = {.height = 200, .width = 200, .per_class = 1000, .skipped = tell};
    const char *path = folder("PetImages");
    for (int threads = 1; threads <= 3; threads++) {
        gr_context *ctx = gr_open(&(gr_options){.threads = threads});
        told[0] = '\0';
        gr_dataset *pets = gr_image_folder(ctx, path, &options);
        assert_string_equal(gr_error_text(ctx), "");
        assert_int_equal(gr_dataset_size(pets), 2000);
        assert_string_equal(gr_dataset_class_name(pets, 0), "Cat");
        assert_string_equal(gr_dataset_class_name(pets, 1), "Dog");
        assert_string_equal(told, "Cat/666.jpg: an empty file\n");
        assert_int_equal(gr_dataset_skipped(pets), 1);
        gr_split split = gr_split_per_class(pets, 600, 200, 200);
        assert_int_equal(gr_dataset_size(split.train), 1200);
        assert_int_equal(gr_dataset_size(split.val), 400);
        assert_int_equal(gr_dataset_size(split.test), 400);
        for (int i = 0; i < 400; i++)
            assert_int_equal(gr_dataset_label(split.test, i), i % 2);
        gr_dataset_hash(pets, hash[threads - 1]);
        assert_string_equal(hash[threads - 1], hash[0]);
        gr_close(ctx);
    }
}

static void cifar10(void **state)
{
    (void)state;
    folder("cifar-10-batches-bin");
    gr_context *ctx = gr_open(NULL);
    gr_split split = gr_cifar10(ctx, getenv("GRADUS_DATA"));
    assert_string_equal(gr_error_text(ctx), "");
    gr_dataset *parts[] = {split.train, split.test};
    for (int p = 0; p < 2; p++) {
        int64_t count[10] = {0}, n = gr_dataset_size(parts[p]);
        assert_int_equal(n, p ? 10000 : 50000);
        for (int64_t i = 0; i < n; i++)
            count[gr_dataset_label(parts[p], i)]++;
        for (int c = 0; c < 10; c++)
            assert_int_equal(count[c], n / 10);
    }
    /* The first training image is a frog: label 6, upper left pixel (59, 62, 63). */
    assert_int_equal(gr_dataset_label(split.train, 0), 6);
    assert_memory_equal(gr_dataset_image(split.train, 0), ((unsigned char[]){59, 62, 63}), 3);
    gr_close(ctx);
}

int main(void)
{
    if (!getenv("GRADUS_DATA")) {
        printf("skipped: GRADUS_DATA names no folder of real images\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(pets), cmocka_unit_test(cifar10)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
