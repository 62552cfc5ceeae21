/* test_data_cifar10.c - folder, parent and archive give the same sets; sizes and labels are checked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "data/data.h"
#include "test_data_files.h"

enum { RECORD = 3073, FILE_BYTES = 10000 * RECORD };

static char root[TEST_PATH], folder[2 * TEST_PATH], archive[2 * TEST_PATH];

static const char *const names[] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                    "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

/* A file of zero records but for record 9999 - k: label k, first pixel (k + 1, 20, 30), second (0, 0, 99). */
static void put_records(const char *path, int k)
{
    FILE *f = fopen(path, "wb");
    long at = (9999L - k) * RECORD;
    if (!f || fseek(f, at, SEEK_SET) != 0)
        abort();
    unsigned char record[RECORD] = {(unsigned char)k, (unsigned char)(k + 1)};
    record[1 + 1024] = 20;
    record[1 + 2048] = 30;
    record[1 + 2049] = 99;
    if (fwrite(record, 1, RECORD, f) != RECORD || fclose(f) != 0 || truncate(path, FILE_BYTES) != 0)
        abort();
}

static void put_name(char path[3 * TEST_PATH], int k)
{
    snprintf(path, 3 * TEST_PATH, "%s/%s", folder, names[k]);
}

static int set_up(void **state)
{
    (void)state;
    char path[3 * TEST_PATH];
    make_folder(root);
    snprintf(folder, sizeof folder, "%s/cifar-10-batches-bin", root);
    snprintf(archive, sizeof archive, "%s/cifar-10-binary.tar.gz", root);
    mkdir(folder, 0777);
    for (int k = 0; k < 6; k++) {
        put_name(path, k);
        put_records(path, k);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

/* Packs the folder's files from first on, in reverse order (no reader may count on another). */
static void pack(int first, const char *extra)
{
    static unsigned char bytes[1 << 20], header[512];
    char path[3 * TEST_PATH], name[64];
    gzFile out = gzopen(archive, "wb1");
    for (int k = 5 + (extra != NULL); k >= first; k--) {
        snprintf(name, sizeof name, "cifar-10-batches-bin/%s", k > 5 ? extra : names[k]);
        tar_header(header, NULL, name, '0', FILE_BYTES);
        gzwrite(out, header, 512);
        put_name(path, k > 5 ? 0 : k);
        FILE *in = fopen(path, "rb");
        for (size_t n; (n = fread(bytes, 1, sizeof bytes, in)) > 0;)
            gzwrite(out, bytes, (unsigned)n);
        fclose(in);
        memset(header, 0, 512);
        gzwrite(out, header, (512 - FILE_BYTES % 512) % 512);
    }
    memset(header, 0, 512);
    gzwrite(out, header, 512);
    gzwrite(out, header, 512);
    if (gzclose(out) != Z_OK)
        abort();
}

static void assert_contents(gr_split split)
{
    assert_null(split.val);
    assert_int_equal(gr_dataset_size(split.train), 50000);
    assert_int_equal(gr_dataset_size(split.test), 10000);
    assert_int_equal(gr_dataset_classes(split.train), 10);
    assert_string_equal(gr_dataset_class_name(split.test, 0), "airplane");
    assert_string_equal(gr_dataset_class_name(split.test, 9), "truck");
    for (int k = 0; k < 6; k++) {
        const gr_dataset *set = k < 5 ? split.train : split.test;
        int64_t i = (k < 5 ? k * 10000 : 0) + 9999 - k;
        const uint8_t *p = gr_dataset_image(set, i);
        assert_int_equal(gr_dataset_label(set, i), k);
        assert_memory_equal(p, ((unsigned char[]){(unsigned char)(k + 1), 20, 30, 0, 0, 99, 0}), 7);
        assert_int_equal(gr_dataset_label(set, i - 1), 0);
        assert_int_equal(gr_dataset_image(set, i - 1)[0], 0);
    }
}

static void folder_parent_and_archive(void **state)
{
    (void)state;
    char hash[5][17];
    pack(0, NULL);
    char away[3 * TEST_PATH];
    const char *const paths[] = {root, folder, archive, root};
    for (int i = 0; i < 4; i++) {
        gr_context *ctx = gr_open(NULL);
        gr_split split = gr_cifar10(ctx, paths[i]);
        assert_string_equal(gr_error_text(ctx), "");
        assert_contents(split);
        gr_dataset_hash(split.train, hash[i]);
        gr_dataset_hash(split.test, hash[4]);
        assert_string_equal(hash[i], hash[0]);
        assert_string_not_equal(hash[i], hash[4]);
        gr_close(ctx);
        if (i == 2) { /* the last one finds only the archive in root */
            snprintf(away, sizeof away, "%s/away", root);
            assert_int_equal(rename(folder, away), 0);
        }
    }
}

static void assert_error(const char *path, gr_code code, const char *what, const char *also)
{
    gr_context *ctx = gr_open(NULL);
    gr_split split = gr_cifar10(ctx, path);
    assert_null(split.train);
    assert_null(split.test);
    assert_int_equal(gr_error_code(ctx), code);
    if (!strstr(gr_error_text(ctx), what) || !strstr(gr_error_text(ctx), also))
        fail_msg("the error is: %s", gr_error_text(ctx));
    assert_int_equal(gr_close(ctx), code);
}

static void broken_folders(void **state)
{
    (void)state;
    char path[3 * TEST_PATH];
    put_name(path, 3);
    assert_int_equal(truncate(path, FILE_BYTES - 1), 0);
    assert_error(root, GR_BAD_DATA, "data_batch_4.bin", "30729999 bytes");
    assert_int_equal(truncate(path, FILE_BYTES + RECORD), 0);
    assert_error(root, GR_BAD_DATA, "data_batch_4.bin", "30733073 bytes");
    assert_int_equal(truncate(path, 0), 0);
    assert_error(folder, GR_BAD_DATA, "data_batch_4.bin", "cut short");
    remove(path);
    assert_error(folder, GR_BAD_DATA, "data_batch_4.bin", "No such file");
    put_records(path, 10);
    assert_error(folder, GR_BAD_DATA, "data_batch_4.bin", "record 9989 has label 10");
    assert_error("/nonexistent/cifar", GR_BAD_DATA, "/nonexistent/cifar", "No such file");
    assert_error("/dev/null", GR_BAD_DATA, "/dev/null", "neither a folder nor a file");
    assert_error("", GR_USAGE, "path", "");
    snprintf(path, sizeof path, "%s/empty", root);
    mkdir(path, 0777);
    assert_error(path, GR_BAD_DATA, path, "get_data.sh cifar10");
}

static void broken_archives(void **state)
{
    (void)state;
    struct stat status;
    pack(0, "test_batch.bin");
    assert_error(archive, GR_BAD_DATA, archive, "holds test_batch.bin twice");
    pack(2, NULL);
    assert_error(archive, GR_BAD_DATA, archive, "holds no data_batch_1.bin");
    pack(0, NULL);
    assert_int_equal(stat(archive, &status), 0);
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(truncate(archive, status.st_size * (3 - i) / 3 + i * 4 - (i == 3) * 12), 0);
        assert_error(archive, GR_BAD_DATA, archive, "cut short");
    }
    put_bytes(archive, tiny_jpeg, sizeof tiny_jpeg);
    assert_error(archive, GR_BAD_DATA, archive, "cut short");
}

int main(void)
{
#define CIFAR_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {CIFAR_TEST(folder_parent_and_archive), CIFAR_TEST(broken_folders),
                                       CIFAR_TEST(broken_archives)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
