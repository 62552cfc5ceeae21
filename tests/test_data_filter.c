/*
 * test_data_filter.c - filters by name, on a synthetic twin of every kind of file that PetImages is known to hold:
 * which of them each filter takes, what it says of the others, and the hash of what it took.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "data/data.h"
#include "data/sha256.h"
#include "test_data_files.h"

static char root[TEST_PATH], told[4096], lines[4096];
static gr_context *ctx;

static void tell(void *user, const char *file, const char *reason)
{
    (void)user;
    size_t n = strlen(told);
    snprintf(told + n, sizeof told - n, "%s: %s\n", file, reason);
}

static void take(void *user, const char *line)
{
    (void)user;
    strcat(lines, line);
}

/* --- the twins --------------------------------------------------------------------------------------------------- */

enum { APP0 = 18 /* bytes of a JFIF segment, behind the first two of the file */ };

/* tiny_jpeg with other bytes in front of its JFIF segment, which is left out where jfif is false. */
static void put_jpeg(const char *name, const void *front, size_t n, bool jfif)
{
    test_file f = {.size = 0};
    add_bytes(&f, tiny_jpeg, 2);
    add_bytes(&f, front, n);
    size_t rest = jfif ? 2 : 2 + APP0;
    add_bytes(&f, tiny_jpeg + rest, sizeof tiny_jpeg - rest);
    put_file(root, name, f.bytes, f.size);
}

/* tiny_jpeg with n bytes replaced at offset. */
static void put_changed(const char *name, size_t at, const void *bytes, size_t n)
{
    unsigned char changed[sizeof tiny_jpeg];
    memcpy(changed, tiny_jpeg, sizeof changed);
    memcpy(changed + at, bytes, n);
    put_file(root, name, changed, sizeof changed);
}

static void put_twins(void)
{
    static const char exif[] = "\xff\xe1\0\x10"
                               "Exif\0\0II*\0\0\0\0\0";
    static char far[5000] = "\xff\xfe\x13\x86"; /* a comment of 4998 bytes */
    test_file f = {.size = 0};
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Cat/Thumbs.db", "\xd0\xcf\x11\xe0", 4);
    put_file(root, "Cat/666.jpg", "", 0);   /* of no bytes: 666, 11702 */
    put_jpeg("Cat/2.jpg", exif, 18, false); /* a camera's, Exif only: most of the 1,590 */
    put_jpeg("Cat/3.jpg", exif, 18, true);  /* JFIF behind it: not in the first 10 bytes */
    memset(far + 4, ' ', sizeof far - 4);
    put_jpeg("Cat/4.jpg", far, sizeof far, true);                  /* JFIF beyond a reader's buffer */
    put_file(root, "Cat/5.jpg", tiny_jpeg, sizeof tiny_jpeg - 60); /* "Truncated File Read" */
    put_changed("Cat/6.jpg", 11, "\0\0", 2);                       /* "unknown JFIF revision 0.00" */
    add_bytes(&f, tiny_jpeg, sizeof tiny_jpeg - 2);
    add_bytes(&f, "\x12\x34\x56\xff\xd9", 5); /* "extraneous bytes before marker 0xd9" */
    put_file(root, "Dog/1.jpg", f.bytes, f.size);
    put_file(root, "Dog/2.jpg", tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg); /* Adobe's, no JFIF */
    put_file(root, "Dog/3.jpg", tiny_grey_jpeg, sizeof tiny_grey_jpeg);
    put_file(root, "Dog/4.jpg", tiny_progressive_jpeg, sizeof tiny_progressive_jpeg);
    png_two(&f, (unsigned char[]){1, 2, 3}, (unsigned char[]){4, 5, 6});
    put_file(root, "Dog/5.jpg", f.bytes, f.size); /* a PNG by another name */
    put_file(root, "Dog/6.jpg", "GIF89a\1\0\1\0\0\0\0;", 14);
    put_file(root, "Dog/7.jpg", "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0", 14);
    put_file(root, "Dog/8.jpg", "<html>JFIF</html>", 17); /* says JFIF and is none */
    put_file(root, "Dog/11702.jpg", "", 0);
}

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    told[0] = lines[0] = '\0';
    ctx = gr_open(&(gr_options){.threads = 2});
    put_twins();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gr_close(ctx);
    remove_folder(root);
    return 0;
}

static gr_dataset *read_with(gr_filter filter)
{
    return gr_image_folder(
        ctx, root,
        &(gr_image_options){.height = 4, .width = 4, .filter = filter, .allow_bad = 1, .skipped = tell, .taken = take});
}

/* --- what each filter does --------------------------------------------------------------------------------------- */

#define NEITHER "neither a JPEG nor a PNG, by its first bytes\n"
#define NO_JFIF "filter keras-jfif: no JFIF in its first 4096 bytes\n"

/* What was told of, with what stb_image says of the cut file cut short itself. */
static void assert_told(const char *want)
{
    const char *rest = told;
    for (const char *line = want; *line; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");
        if (strncmp(rest, line, length) != 0)
            fail_msg("expected \"%.*s\", not \"%s\"", (int)length, line, rest);
        rest = strchr(rest, '\n') + 1;
    }
    assert_string_equal(rest, "");
}

static void decodable(void **state)
{
    (void)state;
    gr_dataset *set = read_with(GR_FILTER_DECODABLE);
    assert_told("Cat/5.jpg: \nCat/666.jpg: an empty file\n"
                "Dog/6.jpg: a GIF, " NEITHER "Dog/7.jpg: a BMP, " NEITHER "Dog/8.jpg: a web page, " NEITHER
                "Dog/11702.jpg: an empty file\n");
    assert_int_equal(gr_dataset_size(set), 10);
    assert_int_equal(gr_dataset_skipped(set), 6);
}

static void nonzero(void **state)
{
    (void)state;
    gr_dataset *set = read_with(GR_FILTER_NONZERO);
    assert_told("Cat/5.jpg: \nCat/666.jpg: filter nonzero: an empty file\n"
                "Dog/6.jpg: a GIF, " NEITHER "Dog/7.jpg: a BMP, " NEITHER "Dog/8.jpg: a web page, " NEITHER
                "Dog/11702.jpg: filter nonzero: an empty file\n");
    assert_int_equal(gr_dataset_size(set), 10);
}

static void keras_jfif(void **state)
{
    (void)state;
    gr_dataset *set = read_with(GR_FILTER_KERAS_JFIF);
    assert_told("Cat/2.jpg: " NO_JFIF "Cat/4.jpg: " NO_JFIF "Cat/5.jpg: \nCat/666.jpg: " NO_JFIF "Dog/2.jpg: " NO_JFIF
                "Dog/5.jpg: " NO_JFIF "Dog/6.jpg: " NO_JFIF "Dog/7.jpg: " NO_JFIF "Dog/8.jpg: a web page, " NEITHER
                "Dog/11702.jpg: " NO_JFIF);
    assert_int_equal(gr_dataset_size(set), 6);
}

static void none(void **state)
{
    (void)state;
    assert_null(read_with(GR_FILTER_NONE));
    assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
    assert_non_null(strstr(gr_error_text(ctx), "6 of 16 image files in"));
    assert_non_null(strstr(gr_error_text(ctx), "and the filter none takes all; the first is Cat/5.jpg"));
    gr_clear_error(ctx);
    static const char *const bad[] = {"Cat/5.jpg", "Cat/666.jpg", "Dog/6.jpg",
                                      "Dog/7.jpg", "Dog/8.jpg",   "Dog/11702.jpg"};
    for (int i = 0; i < 6; i++) {
        char path[2 * TEST_PATH];
        snprintf(path, sizeof path, "%s/%s", root, bad[i]);
        remove(path);
    }
    assert_int_equal(gr_dataset_size(read_with(GR_FILTER_NONE)), 10);
}

/* Files that the filter leaves out do not count as bad: allow_bad is for those that pass it and do not decode. */
static void filtered_is_not_bad(void **state)
{
    (void)state;
    gr_image_options options = {.height = 4, .width = 4, .filter = GR_FILTER_KERAS_JFIF, .allow_bad = 2.0 / 16};
    assert_int_equal(gr_dataset_size(gr_image_folder(ctx, root, &options)), 6);
    options.allow_bad = 1.0 / 16;
    assert_null(gr_image_folder(ctx, root, &options));
    assert_non_null(strstr(gr_error_text(ctx), "2 of 16 image files"));
    assert_non_null(strstr(gr_error_text(ctx), "the first is Cat/5.jpg"));
    gr_clear_error(ctx);
    options.filter = (gr_filter)4;
    assert_null(gr_image_folder(ctx, root, &options));
    assert_string_equal(gr_error_text(ctx), "filter 4: there is none of that number");
}

static void names(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        gr_filter filter;
        assert_true(gr_filter_named(gr_filter_name((gr_filter)i), &filter));
        assert_int_equal(filter, i);
    }
    gr_filter filter;
    assert_false(gr_filter_named("jfif", &filter));
}

/* --- the manifest ------------------------------------------------------------------------------------------------ */

static void manifest(void **state)
{
    (void)state;
    gr_dataset *set = read_with(GR_FILTER_KERAS_JFIF);
    char want[GR__SHA256_TEXT], line[64];
    snprintf(line, sizeof line, "Cat/1.jpg %zu %08lx\n", sizeof tiny_jpeg, crc32(0, tiny_jpeg, sizeof tiny_jpeg));
    assert_int_equal(strncmp(lines, line, strlen(line)), 0);
    gr_sha256 sha;
    gr__sha256_begin(&sha);
    gr__sha256_add(&sha, lines, strlen(lines));
    gr__sha256_end(&sha, want);
    assert_string_equal(gr_dataset_manifest(set), want);
    char before[GR__SHA256_TEXT];
    memcpy(before, gr_dataset_manifest(set), sizeof before);
    put_changed("Cat/1.jpg", 14, "\2", 1); /* the pixels stay, the file does not */
    assert_string_not_equal(gr_dataset_manifest(read_with(GR_FILTER_KERAS_JFIF)), before);
    assert_string_equal(gr_dataset_manifest(gr_procedural(ctx, 2, 2, 2, 1)), "");
}

/* The examples of FIPS 180-4's companion: one block, two blocks, a million letters. */
static void sha256(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int times;
        const char *digest;
    } examples[] = {
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"aaaaaaaaaa", 100000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (int i = 0; i < 4; i++) {
        gr_sha256 sha;
        char digest[GR__SHA256_TEXT];
        gr__sha256_begin(&sha);
        for (int t = 0; t < examples[i].times; t++)
            gr__sha256_add(&sha, examples[i].text, strlen(examples[i].text));
        gr__sha256_end(&sha, digest);
        assert_string_equal(digest, examples[i].digest);
    }
}

int main(void)
{
#define FILTER_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        FILTER_TEST(decodable),           FILTER_TEST(nonzero),    FILTER_TEST(keras_jfif), FILTER_TEST(none),
        FILTER_TEST(filtered_is_not_bad), cmocka_unit_test(names), FILTER_TEST(manifest),   cmocka_unit_test(sha256),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
