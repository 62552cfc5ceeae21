/*
 * test_data_packed.c - packed sets: the same pictures, order and splits as the files they were made of, and every way
 * in which a file can be broken, with its error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/formats/packed.h"
#include "test_data_files.h"

static char root[TEST_PATH], folder[2 * TEST_PATH], path[2 * TEST_PATH];
static gr_context *ctx;
static uint8_t *file; /* [size] as gr_pack wrote it, to be damaged */
static int64_t size;

static const gr_image_options options = {.height = 5, .width = 7, .allow_bad = 1};

/* Two classes of 9 and 8 files, two of which do not decode; packed. */
static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    snprintf(folder, sizeof folder, "%s/set", root);
    snprintf(path, sizeof path, "%s/set.grd", root);
    mkdir(folder, 0777);
    for (int i = 0; i < 17; i++) {
        test_file f;
        char name[64];
        png_two(&f, (unsigned char[]){(unsigned char)i, 1, 2}, (unsigned char[]){200, 9, (unsigned char)i});
        snprintf(name, sizeof name, "%s/%d.png", i % 2 ? "Dog" : "Cat", i);
        put_file(folder, name, f.bytes, i == 4 || i == 7 ? 0 : f.size);
    }
    ctx = gr_open(&(gr_options){.threads = 2});
    gr_dataset *set = gr_image_folder(ctx, folder, &options);
    assert_true(gr_pack(set, path));
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    size = status.st_size;
    file = malloc((size_t)size + 1);
    FILE *in = fopen(path, "rb");
    assert_int_equal(fread(file, 1, (size_t)size, in), size);
    fclose(in);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gr_close(ctx);
    free(file);
    remove_folder(root);
    return 0;
}

static void assert_same(gr_dataset *a, gr_dataset *b)
{
    char x[17], y[17];
    assert_string_equal(gr_error_text(ctx), "");
    gr_dataset_hash(a, x);
    gr_dataset_hash(b, y);
    assert_string_equal(x, y);
}

static void same_as_the_files(void **state)
{
    (void)state;
    gr_dataset *files = gr_image_folder(ctx, folder, &options), *packed = gr_packed(ctx, path, NULL);
    assert_same(files, packed);
    assert_int_equal(gr_dataset_size(packed), 15);
    assert_int_equal(gr_dataset_classes(packed), 2);
    assert_string_equal(gr_dataset_class_name(packed, 1), "Dog");
    assert_string_equal(gr_dataset_manifest(packed), gr_dataset_manifest(files));
    for (uint64_t seed = 0; seed < 5; seed++) {
        gr_image_options some = options;
        some.per_class = 4;
        some.split_seed = seed;
        gr_dataset *few = gr_packed(ctx, path, &(gr_packed_options){.per_class = 4, .split_seed = seed});
        assert_int_equal(gr_dataset_size(few), 8);
        assert_same(gr_image_folder(ctx, folder, &some), few);
        some.per_class = 0;
        assert_same(gr_image_folder(ctx, folder, &some),
                    gr_packed(ctx, path, &(gr_packed_options){.split_seed = seed}));
    }
}

/* A part, a set without files, and one of one channel can be packed too. */
static void other_sets(void **state)
{
    (void)state;
    gr_split split = gr_split_per_class(gr_packed(ctx, path, NULL), 2, 3, 0);
    assert_true(gr_pack(split.val, path));
    gr_dataset *val = gr_packed(ctx, path, NULL);
    assert_int_equal(gr_dataset_size(val), 6);
    assert_int_equal(gr_dataset_image(val, 0)[0], 6); /* Cat/0, 2, (4,) 6, ... : the third good one */
    gr_dataset *grey = gr_procedural_grey(ctx, 6, 3, 3, 1);
    assert_true(gr_pack(grey, path));
    gr_dataset *packed = gr_packed(ctx, path, NULL);
    assert_int_equal(gr_dataset_size(packed), 6);
    assert_string_equal(gr_dataset_manifest(packed), "");
    for (int64_t i = 0; i < 6; i++) { /* class by class */
        int64_t from = i < 3 ? 2 * i : 2 * (i - 3) + 1;
        assert_int_equal(gr_dataset_label(packed, i), gr_dataset_label(grey, from));
        assert_memory_equal(gr_dataset_image(packed, i), gr_dataset_image(grey, from), 9);
    }
}

/* What a file cannot hold: pictures that are not there, and one twice. */
static void not_every_set(void **state)
{
    (void)state;
    assert_false(gr_pack(gr_augmented(gr_packed(ctx, path, NULL), "double,flip"), path));
    assert_string_equal(gr_error_text(ctx),
                        "gr_pack wants every picture once; this set holds one twice, as doubled sets do");
    gr_clear_error(ctx);
    gr_image_options late = options;
    late.decode_late = true;
    assert_false(gr_pack(gr_image_folder(ctx, folder, &late), path));
    assert_string_equal(gr_error_text(ctx), "gr_pack wants a set that is in memory; this one is decoded late");
}

static void write_damaged(void)
{
    put_bytes(path, file, (size_t)size);
}

static void assert_refused(gr_code code, const char *why)
{
    char want[4 * TEST_PATH];
    snprintf(want, sizeof want, "packed set %s%s", path, why);
    assert_null(gr_packed(ctx, path, NULL));
    assert_int_equal(gr_error_code(ctx), code);
    if (!strstr(gr_error_text(ctx), want))
        fail_msg("expected \"%s\", not \"%s\"", want, gr_error_text(ctx));
    gr_clear_error(ctx);
}

/* Writes value over bytes at offset, mends the check sums that cover it, and expects the refusal. */
static void refuse_field(int64_t at, uint64_t value, int bytes, const char *why)
{
    uint8_t was[8], sums[16];
    memcpy(was, file + at, (size_t)bytes);
    memcpy(sums, file + GR__PACKED_TABLES_SUM_AT, sizeof sums);
    int64_t class_bytes = (int64_t)gr__get_le(file + GR__PACKED_CLASS_BYTES_AT, 4);
    gr__put_le(file + at, value, bytes);
    gr__put_le(file + GR__PACKED_TABLES_SUM_AT,
               gr__checksum(file + GR__PACKED_HEADER, class_bytes + 15 * GR__PACKED_IMAGE), 8);
    gr__put_le(file + GR__PACKED_HEADER_SUM_AT, gr__checksum(file, GR__PACKED_HEADER_SUM_AT), 8);
    write_damaged();
    memcpy(file + at, was, (size_t)bytes);
    memcpy(file + GR__PACKED_TABLES_SUM_AT, sums, sizeof sums);
    assert_refused(GR_BAD_DATA, why);
}

/* Contents that no check sum speaks against. */
static void impossible(void **state)
{
    (void)state;
    int64_t classes = GR__PACKED_HEADER, images = classes + (int64_t)gr__get_le(file + GR__PACKED_CLASS_BYTES_AT, 4);
    const char *shape = " is refused: its header asks for images of a size or number of channels that is not read";
    const char *count = " is refused: its header asks for a number of images or classes that is not read";
    refuse_field(GR__PACKED_SHAPE_AT, 0, 4, shape);
    refuse_field(GR__PACKED_SHAPE_AT + 4, 16385, 4, shape);
    refuse_field(GR__PACKED_SHAPE_AT + 8, 2, 4, shape);
    refuse_field(GR__PACKED_SHAPE_AT + 12, 0, 4, count);
    refuse_field(GR__PACKED_N_AT, 0, 8, count);
    refuse_field(GR__PACKED_N_AT, (uint64_t)1 << 40, 8, count);
    refuse_field(GR__PACKED_N_AT, 14, 8, " is refused: its header contradicts itself about the file's size");
    refuse_field(GR__PACKED_FILE_BYTES_AT, 1, 8, " is refused: its header contradicts itself about the file's size");
    refuse_field(GR__PACKED_SHAPE_AT + 12, 3, 4, " is refused: its class table is too short");
    refuse_field(GR__PACKED_MANIFEST_AT, 'x', 1, " is refused: the hash of its manifest is none");
    refuse_field(classes, (uint64_t)1 << 60, 8, " is refused: a class in it has more files than can be");
    refuse_field(classes + 8, 200, 4, " is refused: a class in it has a name that cannot be");
    refuse_field(classes + 8, 0, 4, " is refused: a class in it has a name that cannot be");
    refuse_field(classes + 12, '/', 1, " is refused: a class in it has a name that cannot be");
    refuse_field(images, 2, 4, " is refused: its image 0 has a label or a place that cannot be");
    refuse_field(images + 24 + 8, 9, 8, " is refused: its image 1 has a label or a place that cannot be");
    refuse_field(images + 24 + 8, 0, 8, " is refused: its image 1 is out of order");
    refuse_field(images + 24, 1, 4, " is refused: its image 2 is out of order");
    refuse_field(images + 2 * 24 + 16, 0, 8, " is refused: its image 2, file 3 of class Cat, is damaged (check sum)");
}

/* Bytes that have changed by accident: each part of the file has its error, and none goes unseen. */
static void damaged(void **state)
{
    (void)state;
    int64_t tables =
        GR__PACKED_HEADER + (int64_t)gr__get_le(file + GR__PACKED_CLASS_BYTES_AT, 4) + 15 * GR__PACKED_IMAGE;
    for (int64_t at = 0; at < size; at++) {
        if (at >= tables && at < GR__PACKED_ALIGN) /* padding */
            at = GR__PACKED_ALIGN;
        file[at] ^= (uint8_t)(1u << at % 8);
        write_damaged();
        file[at] ^= (uint8_t)(1u << at % 8);
        assert_refused(GR_BAD_DATA, at < 8    ? " is refused: it is no packed set, by its first bytes"
                                    : at < 12 ? " is refused: it has version "
                                    : at < GR__PACKED_TABLES_SUM_AT ? " is refused: its header is damaged (check sum)"
                                    : at < GR__PACKED_HEADER        ? " is refused: its header is damaged (check sum)"
                                    : at < tables                   ? " is refused: its tables are damaged (check sum)"
                                                                    : " is refused: its image ");
    }
    file[GR__PACKED_ALIGN + 3 * 105] ^= 1;
    file[GR__PACKED_ALIGN + 9 * 105] ^= 1;
    write_damaged();
    assert_refused(
        GR_BAD_DATA,
        " is refused: its image 3, file 4 of class Cat, is damaged (check sum); pack the set again"); /* the first */
}

static void cut_short(void **state)
{
    (void)state;
    char why[256];
    put_bytes(path, file, GR__PACKED_HEADER - 1);
    assert_refused(GR_BAD_DATA, " is refused: it is cut short within its header");
    for (int64_t n = GR__PACKED_HEADER; n < size; n += 97) {
        put_bytes(path, file, (size_t)n);
        snprintf(why, sizeof why, " is refused: it has %lld bytes, its header asks for %lld; it is cut short",
                 (long long)n, (long long)size);
        assert_refused(GR_BAD_DATA, why);
    }
    file[size] = 0;
    put_bytes(path, file, (size_t)size + 1);
    snprintf(why, sizeof why, " is refused: it has %lld bytes, its header asks for %lld; it is damaged at its end",
             (long long)size + 1, (long long)size);
    assert_refused(GR_BAD_DATA, why);
    gr__put_le(file + GR__PACKED_VERSION_AT, 2, 4);
    write_damaged();
    assert_refused(GR_BAD_DATA,
                   " is refused: it has version 2 of the format, this program reads 1; pack the set again");
}

static void paths(void **state)
{
    (void)state;
    remove(path);
    assert_refused(GR_BAD_DATA, ": No such file or directory");
    mkdir(path, 0777);
    assert_refused(GR_BAD_DATA, " is refused: it is not a regular file");
    assert_false(gr_pack(gr_procedural(ctx, 2, 2, 2, 1), path)); /* a folder is in the way */
    assert_int_equal(gr_error_code(ctx), GR_IO_ERROR);
    gr_clear_error(ctx);
    assert_false(gr_pack(gr_procedural(ctx, 2, 2, 2, 1), "/nonexistent/set.grd"));
    assert_string_equal(gr_error_text(ctx), "/nonexistent/set.grd cannot be written: No such file or directory");
    gr_clear_error(ctx);
    assert_null(gr_packed(ctx, path, &(gr_packed_options){.per_class = -1}));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
}

/* Fixed for ever: a file packed today must be readable by every machine. */
static void checksum_stays(void **state)
{
    (void)state;
    uint8_t bytes[67];
    for (int i = 0; i < 67; i++)
        bytes[i] = (uint8_t)(i * 7);
    assert_true(gr__checksum(bytes, 67) == 0x6f1c74d304aa8886u);
    assert_true(gr__checksum(bytes, 64) == 0x56169e8ebf441a86u);
    assert_true(gr__checksum(bytes, 0) == 0xec28d0e076965dfdu);
}

int main(void)
{
#define PACKED_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {PACKED_TEST(same_as_the_files),
                                       PACKED_TEST(other_sets),
                                       PACKED_TEST(not_every_set),
                                       PACKED_TEST(impossible),
                                       PACKED_TEST(damaged),
                                       PACKED_TEST(cut_short),
                                       PACKED_TEST(paths),
                                       cmocka_unit_test(checksum_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
