/*
 * hostile.c - data sets as a careless or a malicious world delivers them. Each case must end with the documented code
 * and a message that names the file, folder or option at fault, must leave the context usable, and must never crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>

#include "core/philox.h"
#include "data/data.h"
#include "data/decoding/image.h"
#include "test_data_files.h"

enum { FRAME_AT = 158 /* where tiny_jpeg's frame header of 19 bytes begins */ };

static char root[TEST_PATH], inside[2 * TEST_PATH];
static gr_context *ctx;

static int set_up(void **state)
{
    (void)state;
    make_folder(root);
    ctx = gr_open(&(gr_options){.threads = 2});
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gr_close(ctx);
    remove_folder(root);
    return 0;
}

static const char *in_root(const char *name)
{
    snprintf(inside, sizeof inside, "%s/%s", root, name);
    return inside;
}

/* The standing error has this code and says both things; then the context is cleared and can be used again. */
static void assert_error(gr_code code, const char *names, const char *says)
{
    if (gr_error_code(ctx) != code || !strstr(gr_error_text(ctx), names) || !strstr(gr_error_text(ctx), says))
        fail_msg("expected code %d, \"%s\" and \"%s\", not code %d: %s", code, names, says, gr_error_code(ctx),
                 gr_error_text(ctx));
    gr_clear_error(ctx);
    assert_non_null(gr_procedural(ctx, 2, 2, 2, 0));
}

static void folder_error(const char *path, gr_code code, const char *names, const char *says)
{
    assert_null(gr_image_folder(ctx, path, &(gr_image_options){.height = 4, .width = 4}));
    assert_error(code, names, says);
}

static void options_error(gr_image_options options, gr_code code, const char *names, const char *says)
{
    put_file(root, "a/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "b/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    assert_null(gr_image_folder(ctx, root, &options));
    assert_error(code, names, says);
}

static void folders(void **state)
{
    (void)state;
    folder_error("/nonexistent/pets", GR_BAD_DATA, "/nonexistent/pets", "No such file");
    folder_error(in_root(""), GR_BAD_DATA, root, "no class folders");
    put_file(root, "1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    folder_error(root, GR_BAD_DATA, root, "no class folders");
    folder_error(in_root("1.jpg"), GR_BAD_DATA, "1.jpg", "it is no .zip, .tar or .tar.gz");
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    folder_error(root, GR_BAD_DATA, "Cat", "one class only");
    put_file(root, "Dog/readme.txt", "no image", 8);
    folder_error(root, GR_BAD_DATA, in_root("Dog"), "no images (.jpg .jpeg .png)");
    put_file(in_root("Dog"), "Poodle/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    folder_error(root, GR_BAD_DATA, in_root("Dog"), "if those are the classes");
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    folder_error(longest, GR_BAD_DATA, "4999 characters", "too long");
}

static void unreadable_folder(void **state)
{
    (void)state;
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    if (geteuid() == 0)
        skip(); /* nothing is unreadable to root */
    assert_int_equal(chmod(in_root("Dog"), 0), 0);
    folder_error(root, GR_IO_ERROR, in_root("Dog"), "Permission denied");
    assert_int_equal(chmod(in_root("Dog"), 0700), 0);
}

static void options(void **state)
{
    (void)state;
    options_error((gr_image_options){.height = 0, .width = 4}, GR_USAGE, "0 x 4 pixels", "at least 1");
    options_error((gr_image_options){.height = 4, .width = -4}, GR_USAGE, "4 x -4 pixels", "at least 1");
    options_error((gr_image_options){.height = 4, .width = 4, .per_class = -1}, GR_USAGE, "per_class", "-1");
    options_error((gr_image_options){.height = 4, .width = 4, .allow_bad = NAN}, GR_USAGE, "allow_bad", "nan");
    options_error((gr_image_options){.height = 4, .width = 4, .allow_bad = 1.5}, GR_USAGE, "allow_bad", "1.5");
    options_error((gr_image_options){.height = 2000000000, .width = 2000000000}, GR_NO_MEMORY,
                  "2 images of 2000000000 x 2000000000 need", "GiB when they are preloaded");
    options_error((gr_image_options){.height = 2000000, .width = 2000000}, GR_NO_MEMORY,
                  "2 images of 2000000 x 2000000 need 22351.74 GiB", "preload none");
    assert_null(gr_image_folder(ctx, root, NULL));
    assert_error(GR_USAGE, "gr_image_folder", "height and width");
}

/* One bad file among four good ones is refused by name, with its reason; allowed, it is left out. */
static void file_error(const void *bytes, size_t size, const char *reason)
{
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Cat/2.jpg", bytes, size);
    put_file(root, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    folder_error(root, GR_BAD_DATA, "Cat/2.jpg", reason);
    gr_dataset *set = gr_image_folder(ctx, root, &(gr_image_options){.height = 4, .width = 4, .allow_bad = 1});
    assert_int_equal(gr_dataset_size(set), 2);
    assert_int_equal(gr_dataset_skipped(set), 1);
}

static void files(void **state)
{
    (void)state;
    test_file f;
    file_error("", 0, "an empty file");
    file_error(tiny_jpeg, sizeof tiny_jpeg / 2, "truncated JPEG");
    file_error(tiny_jpeg, 2, "truncated JPEG");
    file_error("plain text that somebody named .jpg\n", 36, "neither a JPEG nor a PNG");
    file_error("\xff\xd8\xff\xd9", 4, "a JPEG without a picture");
    png_two(&f, (unsigned char[]){1, 2, 3}, (unsigned char[]){4, 5, 6});
    file_error(f.bytes, f.size / 2, "a PNG cut short");
    f.bytes[f.size - 25] ^= 4;
    file_error(f.bytes, f.size, "a check sum is wrong");
}

static void all_files_bad(void **state)
{
    (void)state;
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Dog/1.jpg", "", 0);
    assert_null(gr_image_folder(ctx, root, &(gr_image_options){.height = 4, .width = 4, .allow_bad = 1}));
    assert_error(GR_BAD_DATA, in_root("Dog"), "no image");
}

static void not_enough_for_a_split(void **state)
{
    (void)state;
    put_file(root, "Cat/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Dog/1.jpg", tiny_jpeg, sizeof tiny_jpeg);
    put_file(root, "Dog/2.jpg", tiny_jpeg, sizeof tiny_jpeg);
    gr_dataset *set = gr_image_folder(ctx, root, &(gr_image_options){.height = 4, .width = 4});
    assert_int_equal(gr_dataset_size(set), 3);
    assert_null(gr_split_per_class(set, 1, 0, 1).train);
    assert_error(GR_BAD_DATA, "class Cat has 1", "2 are wanted");
}

/* A Huffman table of n codes, all of 16 bits, with all its symbols there, in front of the frame header. */
static size_t jpeg_with_codes(test_file *f, int n)
{
    unsigned char counts[17] = {0};
    for (int i = 16, left = n; left > 0; i--) {
        counts[i] = (unsigned char)(left < 255 ? left : 255);
        left -= counts[i];
    }
    f->size = 0;
    add_bytes(f, tiny_jpeg, FRAME_AT);
    add_bytes(f, (unsigned char[]){0xff, 0xc4, (unsigned char)((n + 19) >> 8), (unsigned char)(n + 19)}, 4);
    add_bytes(f, counts, 17);
    for (int i = 0; i < n; i++)
        add_bytes(f, "", 1);
    add_bytes(f, tiny_jpeg + FRAME_AT, sizeof tiny_jpeg - FRAME_AT);
    return f->size;
}

/* A decoder has room for 256 codes; what claims more must not reach it. */
static void huffman_table_too_large(void **state)
{
    (void)state;
    test_file f;
    gr_picture picture;
    char reason[GR__REASON_SIZE];
    assert_int_equal(gr__decode_bytes(f.bytes, jpeg_with_codes(&f, 200), &picture, reason), GR__DECODED);
    gr__picture_free(&picture);
    file_error(f.bytes, jpeg_with_codes(&f, 257), "a Huffman table that is none");
    file_error(f.bytes, jpeg_with_codes(&f, 4080), "a Huffman table that is none");
    jpeg_with_codes(&f, 200);
    memset(f.bytes + FRAME_AT + 5, 255, 16); /* more codes than the segment holds */
    file_error(f.bytes, f.size, "a Huffman table that is none");
}

/* A pixel that names a colour beyond its palette is black, whatever lies on the stack. */
static void beyond_the_palette(void **state)
{
    (void)state;
    test_file f;
    gr_picture picture;
    char reason[GR__REASON_SIZE];
    static const unsigned char line[] = {0, 0, 1, 0x80, 0xff}, want[12] = {1, 2, 3};
    png_begin(&f, 4, 1, 8, 3);
    add_chunk(&f, "PLTE", "\1\2\3", 3);
    size_t behind = f.size;
    png_end(&f, line, sizeof line);
    assert_int_equal(gr__decode_bytes(f.bytes, f.size, &picture, reason), GR__DECODED);
    assert_memory_equal(picture.rgb, want, 12);
    gr__picture_free(&picture);
    f.size = behind;
    add_chunk(&f, "PLTE", "\1\2\3", 3);
    png_end(&f, line, sizeof line);
    file_error(f.bytes, f.size, "a PNG with two palettes");
}

/* A second frame header could ask for pixels that the first one's check has not counted. */
static void two_frames(void **state)
{
    (void)state;
    test_file f = {.size = 0};
    add_bytes(&f, tiny_jpeg, FRAME_AT + 19);
    add_bytes(&f, tiny_jpeg + FRAME_AT, sizeof tiny_jpeg - FRAME_AT);
    file_error(f.bytes, f.size, "not the only one");
}

static void too_many_scans(void **state)
{
    (void)state;
    static const unsigned char scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0};
    test_file f = {.size = 0};
    add_bytes(&f, tiny_grey_jpeg, sizeof tiny_grey_jpeg - 2);
    for (int i = 0; i < 200; i++)
        add_bytes(&f, scan, sizeof scan);
    add_bytes(&f, "\xff\xd9", 2);
    file_error(f.bytes, f.size, "more than 100 scans");
}

/* A PNG of one pixel whose IDAT unpacks to 2 GiB of zeros. Returns its size. */
static size_t make_bomb(unsigned char *bomb, size_t room)
{
    static unsigned char zeros[64 << 20], packed[1 << 18];
    z_stream z = {.next_in = zeros, .avail_in = sizeof zeros, .next_out = packed, .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FULL_FLUSH), Z_OK); /* a piece that can be repeated */
    size_t piece = sizeof packed - z.avail_out;
    deflateEnd(&z);
    test_file f;
    png_begin(&f, 1, 1, 8, 0);
    assert_true(f.size + 32 * piece + 64 < room);
    memcpy(bomb, f.bytes, f.size);
    unsigned char *data = bomb + f.size + 8, *end = data;
    memcpy(end, "\x78\x9c", 2);
    end += 2;
    for (int i = 0; i < 32; i++, end += piece)
        memcpy(end, packed, piece);
    memcpy(end, "\3\0\0\0\0\1", 6); /* an empty last block and a check sum that nobody sees */
    end += 6;
    f.size = 0;
    add_be32(&f, (uint32_t)(end - data));
    add_bytes(&f, "IDAT", 4);
    memcpy(data - 8, f.bytes, 8);
    f.size = 0;
    add_be32(&f, (uint32_t)crc32(0, data - 4, (uInt)(end - data + 4)));
    add_chunk(&f, "IEND", "", 0);
    memcpy(end, f.bytes, f.size);
    return (size_t)(end - bomb) + f.size;
}

/* Pixels, or bytes behind few pixels, that would fill the memory. */
static void bombs(void **state)
{
    (void)state;
    test_file f;
    unsigned char huge[sizeof tiny_jpeg];
    png_begin(&f, 16384, 16384, 8, 6);
    png_end(&f, huge, sizeof huge);
    file_error(f.bytes, f.size, "16384 x 16384 pixels");
    memcpy(huge, tiny_jpeg, sizeof huge);
    memset(huge + FRAME_AT + 5, 0xff, 4); /* height and width */
    file_error(huge, sizeof huge, "65535 x 65535 pixels");
    enum { ROOM = 16 << 20 };
    unsigned char *bomb = malloc(ROOM);
    file_error(bomb, make_bomb(bomb, ROOM), "unpack to more than its pixels need");
    free(bomb);
}

/* Pictures mangled at random: left out or survived. PNGs get right check sums, so that damage reaches the decoder. */
static void mangled(void **state)
{
    (void)state;
    test_file f;
    gr_picture picture;
    char reason[GR__REASON_SIZE];
    unsigned char lines[9 * 25];
    for (uint32_t trial = 0; trial < 4000; trial++) {
        unsigned char depth = "\1\2\4\10\20"[trial % 5], colour = "\0\2\3\4\6"[trial / 5 % 5];
        for (size_t i = 0; i < sizeof lines; i++)
            lines[i] = (unsigned char)gr__random_bits(2, GR_RNG_PROCEDURAL, trial, i);
        for (size_t i = 0; i < 9; i++)
            lines[i * 25] %= 6;
        png_begin(&f, 1 + trial % 9, 1 + trial % 7, depth, colour);
        add_chunk(&f, "PLTE", lines, trial % 60);
        add_chunk(&f, "tRNS", lines, trial % 11);
        png_end(&f, lines, 1 + trial % sizeof lines);
        if (gr__decode_bytes(f.bytes, f.size, &picture, reason) == GR__DECODED)
            gr__picture_free(&picture);
    }
    for (uint32_t trial = 0; trial < 4000; trial++) {
        bool progressive = trial % 2;
        size_t size = progressive ? sizeof tiny_progressive_jpeg : sizeof tiny_jpeg;
        unsigned char *bytes = malloc(size);
        memcpy(bytes, progressive ? tiny_progressive_jpeg : tiny_jpeg, size);
        for (uint32_t k = 0; k < 1 + trial % 8; k++) {
            uint32_t bits = gr__random_bits(3, GR_RNG_PROCEDURAL, trial, k);
            bytes[(bits & 0xffff) % size] ^= (unsigned char)(1u << (bits >> 16) % 8);
        }
        if (gr__decode_bytes(bytes, size, &picture, reason) == GR__DECODED)
            gr__picture_free(&picture);
        free(bytes);
    }
}

/* The four files of MNIST with bytes changed at random, packed ones too: a set of the sizes they say, or an error. */
static void mangled_idx(void **state)
{
    (void)state;
    static const char *const names[] = {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
                                        "t10k-labels-idx1-ubyte"};
    int whole = 0;
    for (uint32_t trial = 0; trial < 1000; trial++) {
        for (uint32_t which = 0; which < 4; which++) {
            test_file f = {.size = 0};
            int dimensions = which % 2 ? 1 : 3;
            add_be32(&f, 0x00000800 | (uint32_t)dimensions);
            for (int d = 0; d < dimensions; d++)
                add_be32(&f, 4);
            for (int i = 0; i < (dimensions == 3 ? 64 : 4); i++)
                add_bytes(&f, &(unsigned char){(unsigned char)(i % 4)}, 1);
            uint32_t bits = gr__random_bits(4, GR_RNG_PROCEDURAL, trial, which);
            if (bits % 3 == 0)
                f.bytes[bits / 3 % f.size] ^= (unsigned char)(1u << (bits >> 29));
            put_bytes(in_root(names[which]), f.bytes, f.size);
        }
        gr_split split = gr_idx(ctx, root);
        whole += split.train != NULL;
        if (split.train)
            assert_int_equal(gr_dataset_size(split.train), 4);
        else
            assert_error(GR_BAD_DATA, root, "fetch");
    }
    assert_in_range(whole, 200, 900);
}

/* Every call accepts the NULL of an earlier failure and the failure stays the first one. */
static void errors_stick(void **state)
{
    (void)state;
    gr_batch batch;
    gr_dataset *set = gr_image_folder(ctx, "/nonexistent/one", &(gr_image_options){.height = 4, .width = 4});
    gr_split split = gr_split_per_class(set, 1, 1, 1);
    gr_loader *loader = gr_loader_open(split.train, &(gr_loader_options){.batch = 0});
    assert_false(gr_loader_next(loader, &batch));
    assert_null(gr_cifar10(ctx, "/nonexistent/two").train);
    assert_null(gr_idx(ctx, "/nonexistent/three").train);
    assert_null(gr_procedural(ctx, 0, 0, 0, 0));
    assert_error(GR_BAD_DATA, "/nonexistent/one", "No such file");
}

int main(void)
{
#define HOSTILE_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        HOSTILE_TEST(folders),
        HOSTILE_TEST(unreadable_folder),
        HOSTILE_TEST(options),
        HOSTILE_TEST(files),
        HOSTILE_TEST(all_files_bad),
        HOSTILE_TEST(not_enough_for_a_split),
        HOSTILE_TEST(beyond_the_palette),
        HOSTILE_TEST(two_frames),
        HOSTILE_TEST(huffman_table_too_large),
        HOSTILE_TEST(too_many_scans),
        HOSTILE_TEST(bombs),
        HOSTILE_TEST(mangled),
        HOSTILE_TEST(mangled_idx),
        HOSTILE_TEST(errors_stick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
