/* test_data_tar.c - whole archives are read to the end; cut and damaged ones are refused and never crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/philox.h"
#include "data/formats/tar.h"
#include "test_data_files.h"

static char root[TEST_PATH], path[2 * TEST_PATH];
static unsigned char content[1500];

/* Four regular files of 1500, 0, 512 and 3 bytes among what archives hold beside. */
static void make_archive(test_file *f)
{
    f->size = 0;
    for (size_t i = 0; i < sizeof content; i++)
        content[i] = (unsigned char)(i * 7 + i / 256);
    add_member(f, NULL, "folder/", '5', "", 0);
    add_member(f, NULL, "folder/first", '0', content, sizeof content);
    add_member(f, "", "pax", 'x', "30 mtime=1234567890.123456789\n", 30);
    add_member(f, "a/long/prefix", "empty", '0', "", 0);
    add_member(f, "", "a-link", '2', "", 0);
    add_member(f, "", "block", '\0', content, 512);
    add_member(f, NULL, "tiny", '0', "abc", 3);
    end_tar(f);
}

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    snprintf(path, sizeof path, "%s/archive", root);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_folder(root);
    return 0;
}

/* Reads all files whole. Returns what the last gr__tar_next said, and how many there were. */
static int read_all(int *files, char fault[160])
{
    gr_tar *tar = gr__tar_open(path);
    char name[GR__TAR_NAME];
    int64_t size;
    int next;
    assert_non_null(tar);
    *files = 0;
    while ((next = gr__tar_next(tar, name, &size)) > 0) {
        unsigned char *data = malloc(size > 0 && size < 1 << 20 ? (size_t)size : 1);
        ++*files;
        if (size < 1 << 20)
            gr__tar_read(tar, data, size);
        free(data);
    }
    snprintf(fault, 160, "%s", gr__tar_fault(tar));
    gr__tar_close(tar);
    return next;
}

static void expect(gr_tar *tar, const char *want_name, int64_t want_size)
{
    char name[GR__TAR_NAME];
    int64_t size;
    assert_int_equal(gr__tar_next(tar, name, &size), 1);
    assert_string_equal(name, want_name);
    assert_int_equal(size, want_size);
}

static void reads(void **state)
{
    (void)state;
    test_file f;
    unsigned char data[1500];
    make_archive(&f);
    for (int packed = 0; packed < 2; packed++) {
        (packed ? put_gzip : put_bytes)(path, f.bytes, f.size);
        gr_tar *tar = gr__tar_open(path);
        expect(tar, "folder/first", 1500);
        assert_true(gr__tar_read(tar, data, 1000)); /* in two pieces */
        assert_true(gr__tar_read(tar, data + 1000, 500));
        assert_memory_equal(data, content, 1500);
        expect(tar, "a/long/prefix/empty", 0);
        expect(tar, "block", 512);
        assert_true(gr__tar_read(tar, data, 100)); /* the rest is passed over */
        assert_memory_equal(data, content, 100);
        expect(tar, "tiny", 3);
        assert_true(gr__tar_read(tar, data, 3));
        assert_memory_equal(data, "abc", 3);
        char name[GR__TAR_NAME];
        int64_t size;
        assert_int_equal(gr__tar_next(tar, name, &size), 0);
        assert_string_equal(gr__tar_fault(tar), "");
        gr__tar_close(tar);
    }
}

static void reads_no_further_than_a_file(void **state)
{
    (void)state;
    test_file f;
    unsigned char data[600];
    make_archive(&f);
    put_gzip(path, f.bytes, f.size);
    gr_tar *tar = gr__tar_open(path);
    expect(tar, "folder/first", 1500);
    expect(tar, "a/long/prefix/empty", 0);
    expect(tar, "block", 512);
    assert_false(gr__tar_read(tar, data, 513));
    assert_string_equal(gr__tar_fault(tar), "a file in it is shorter than it should be");
    gr__tar_close(tar);
    assert_null(gr__tar_open("/nonexistent/archive"));
}

static void cut_everywhere(void **state)
{
    (void)state;
    test_file f;
    char fault[160];
    int files;
    make_archive(&f);
    size_t mark = f.size - 1024; /* where the end mark begins; its first block is enough */
    for (size_t n = 0; n < f.size; n += 512) {
        put_bytes(path, f.bytes, n);
        assert_int_equal(read_all(&files, fault), n > mark ? 0 : -1);
        assert_string_equal(fault, n > mark ? "" : "it is cut short");
    }
    for (size_t n = 1; n < f.size; n += 37) {
        put_bytes(path, f.bytes, n);
        assert_int_equal(read_all(&files, fault), n >= mark + 512 ? 0 : -1);
    }
}

/* gzip, cut at every byte: the check sum at its end counts as well. */
static void cut_when_packed(void **state)
{
    (void)state;
    test_file f;
    char fault[160];
    int files;
    make_archive(&f);
    put_gzip(path, f.bytes, f.size);
    static unsigned char packed[1 << 16];
    FILE *in = fopen(path, "rb");
    size_t size = fread(packed, 1, sizeof packed, in);
    fclose(in);
    assert_int_equal(read_all(&files, fault), 0);
    assert_int_equal(files, 4);
    for (size_t n = 0; n < size; n++) {
        put_bytes(path, packed, n);
        assert_int_equal(read_all(&files, fault), -1);
        assert_true(strlen(fault) > 5);
    }
    packed[size - 6] ^= 1; /* in the CRC-32 */
    put_bytes(path, packed, size);
    assert_int_equal(read_all(&files, fault), -1);
    assert_non_null(strstr(fault, "data check"));
}

static void refuses(void **state)
{
    (void)state;
    test_file f;
    char fault[160];
    int files;
    put_bytes(path, "this is a text, not an archive, however long it may be made\n", 60);
    assert_int_equal(read_all(&files, fault), -1);
    assert_string_equal(fault, "it is cut short");
    memset(f.bytes, 'x', 2048);
    put_bytes(path, f.bytes, 2048);
    assert_int_equal(read_all(&files, fault), -1);
    assert_non_null(strstr(fault, "not a tar archive"));
    make_archive(&f);
    add_bytes(&f, "tail", 4);
    put_bytes(path, f.bytes, f.size);
    assert_int_equal(read_all(&files, fault), -1);
    assert_non_null(strstr(fault, "behind its end mark"));
    f.size = 0;
    add_member(&f, NULL, "huge", '0', "", 0); /* GNU's base-256 size, 2^80 */
    memcpy(f.bytes + 124, "\x80\0\1\0\0\0\0\0\0\0\0\0", 12);
    unsigned sum = 0;
    memset(f.bytes + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += f.bytes[i];
    snprintf((char *)f.bytes + 148, 8, "%06o", sum);
    end_tar(&f);
    put_bytes(path, f.bytes, f.size);
    assert_int_equal(read_all(&files, fault), -1);
    assert_non_null(strstr(fault, "no size that can be read"));
}

static void survives_damage(void **state)
{
    (void)state;
    test_file f;
    char fault[160];
    int files, refused = 0;
    for (uint32_t trial = 0; trial < 1000; trial++) {
        make_archive(&f);
        for (uint32_t k = 0; k <= trial % 4; k++) {
            uint32_t bits = gr__random_bits(1, GR_RNG_PROCEDURAL, trial, k);
            f.bytes[bits % f.size] = (unsigned char)(bits >> 24);
        }
        (trial % 2 ? put_gzip : put_bytes)(path, f.bytes, f.size);
        int end = read_all(&files, fault);
        assert_true(end == 0 || fault[0]);
        refused += end < 0;
    }
    assert_in_range(refused, 100, 1000); /* headers have check sums, contents of a plain tar have none */
}

int main(void)
{
#define TAR_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {TAR_TEST(reads),          TAR_TEST(reads_no_further_than_a_file),
                                       TAR_TEST(cut_everywhere), TAR_TEST(cut_when_packed),
                                       TAR_TEST(refuses),        TAR_TEST(survives_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
