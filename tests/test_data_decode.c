/* test_data_decode.c - JPEG and PNG to RGB, as PIL's convert("RGB") has it; broken files are refused with a reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <sys/resource.h>

#include "core/philox.h"
#include "data/decoding/file_check.h"
#include "data/decoding/image.h"
#include "test_data_files.h"

static gr_picture picture;
static char reason[GR__REASON_SIZE];

static gr_decoded decode(const void *bytes, size_t size)
{
    reason[0] = '\0';
    return gr__decode_bytes(bytes, size, &picture, reason);
}

static void assert_refused(const void *bytes, size_t size, const char *why)
{
    assert_int_equal(decode(bytes, size), GR__UNDECODABLE);
    if (!strstr(reason, why))
        fail_msg("reason is \"%s\", not \"%s\"", reason, why);
}

/* The decoded picture at five places, within the rounding of two decoders. */
static void assert_tiny(const unsigned char want[5][3], int tolerance)
{
    static const int at[5][2] = {{0, 0}, {23, 0}, {0, 15}, {23, 15}, {11, 7}};
    assert_int_equal(picture.width, TINY_WIDTH);
    assert_int_equal(picture.height, TINY_HEIGHT);
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 3; c++)
            assert_true(abs(picture.rgb[(at[i][1] * TINY_WIDTH + at[i][0]) * 3 + c] - want[i][c]) <= tolerance);
    gr__picture_free(&picture);
}

static void jpegs(void **state)
{
    (void)state;
    /* As Pillow reads them. */
    static const unsigned char cmyk[5][3] = {
        {0, 0, 255}, {229, 0, 140}, {0, 225, 180}, {229, 225, 65}, {111, 105, 164}};
    static const unsigned char grey[5][3] = {
        {29, 29, 29}, {85, 85, 85}, {153, 153, 153}, {208, 208, 208}, {114, 114, 114}};
    assert_int_equal(decode(tiny_jpeg, sizeof tiny_jpeg), GR__DECODED);
    assert_tiny(tiny_corners, 3);
    assert_int_equal(decode(tiny_progressive_jpeg, sizeof tiny_progressive_jpeg), GR__DECODED);
    assert_tiny(tiny_corners, 3);
    assert_int_equal(decode(tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg), GR__DECODED);
    assert_tiny(cmyk, 3);
    assert_int_equal(decode(tiny_grey_jpeg, sizeof tiny_grey_jpeg), GR__DECODED);
    assert_tiny(grey, 1);
}

/* Bytes behind the end marker are common in real files and do no harm. */
static void jpeg_with_a_tail(void **state)
{
    (void)state;
    test_file f = {.size = 0};
    add_bytes(&f, tiny_jpeg, sizeof tiny_jpeg);
    add_bytes(&f, "trailing bytes \xff\xd8\xff", 18);
    assert_int_equal(decode(f.bytes, f.size), GR__DECODED);
    assert_tiny(tiny_corners, 3);
}

/* A picture of one pixel, given as the bytes of its only line after the filter byte. */
static void assert_pixel(int depth, int colour, const void *palette, size_t palette_size, const void *line, size_t size,
                         const unsigned char want[3])
{
    test_file f;
    unsigned char bytes[16] = {0};
    memcpy(bytes + 1, line, size);
    png_begin(&f, 1, 1, depth, colour);
    if (palette)
        add_chunk(&f, "PLTE", palette, palette_size);
    add_chunk(&f, "tEXt", "a\0b", 3);
    png_end(&f, bytes, size + 1);
    assert_int_equal(decode(f.bytes, f.size), GR__DECODED);
    assert_int_equal(picture.width * picture.height, 1);
    assert_memory_equal(picture.rgb, want, 3);
    gr__picture_free(&picture);
}

static void pngs(void **state)
{
    (void)state;
    assert_pixel(8, 2, NULL, 0, "\x01\x02\x03", 3, (unsigned char[]){1, 2, 3});
    assert_pixel(8, 6, NULL, 0, "\x01\x02\x03\x00", 4, (unsigned char[]){1, 2, 3}); /* alpha is dropped, not blended */
    assert_pixel(8, 0, NULL, 0, "\x65", 1, (unsigned char[]){0x65, 0x65, 0x65});
    assert_pixel(8, 4, NULL, 0, "\x65\x10", 2, (unsigned char[]){0x65, 0x65, 0x65});
    assert_pixel(1, 0, NULL, 0, "\x80", 1, (unsigned char[]){255, 255, 255});
    assert_pixel(8, 3, "\x09\x08\x07\x01\x02\x03", 6, "\x01", 1, (unsigned char[]){1, 2, 3});
    assert_pixel(16, 2, NULL, 0, "\x01\xff\x02\xff\x03\xff", 6, (unsigned char[]){1, 2, 3}); /* the upper byte */
}

/* Every proper prefix of a file is refused, with a reason. */
static void assert_no_prefix(const unsigned char *bytes, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        unsigned char *prefix = malloc(n ? n : 1); /* of its exact size, for the sanitizers */
        memcpy(prefix, bytes, n);
        assert_int_equal(decode(prefix, n), GR__UNDECODABLE);
        assert_true(strlen(reason) > 5);
        free(prefix);
    }
}

static void cut_short(void **state)
{
    (void)state;
    test_file f;
    png_two(&f, (unsigned char[]){1, 2, 3}, (unsigned char[]){4, 5, 6});
    assert_int_equal(decode(f.bytes, f.size), GR__DECODED);
    gr__picture_free(&picture);
    assert_no_prefix(f.bytes, f.size);
    assert_no_prefix(tiny_jpeg, sizeof tiny_jpeg);
    assert_no_prefix(tiny_progressive_jpeg, sizeof tiny_progressive_jpeg);
    assert_no_prefix(tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg);
    assert_refused(f.bytes, f.size - 20, "cut short");
    assert_refused(tiny_jpeg, sizeof tiny_jpeg - 10, "truncated");
}

static void not_images(void **state)
{
    (void)state;
    assert_refused("", 0, "an empty file");
    assert_refused("hello, world\n", 13, "neither a JPEG nor a PNG");
    assert_refused("GIF89a\1\0\1\0", 10, "a GIF, neither a JPEG nor a PNG");
    assert_refused("RIFF\44\0\0\0WEBPVP8 ", 16, "a WebP, neither a JPEG nor a PNG");
    assert_refused("\0\0\0\30ftypheic\0\0\0\0", 16, "a HEIC, neither a JPEG nor a PNG");
    assert_refused("\0\0\0\30ftypavif\0\0\0\0", 16, "an AVIF, neither a JPEG nor a PNG");
    assert_refused("MM\0*\0\0\0\10", 8, "a TIFF, neither a JPEG nor a PNG");
    assert_refused("<!DOCTYPE html>", 15, "a web page, neither a JPEG nor a PNG");
    assert_refused("BM", 2, "a BMP, neither a JPEG nor a PNG");
    assert_refused("RIFF\44\0\0\0WEB", 11, "neither a JPEG nor a PNG");
}

static void broken_pngs(void **state)
{
    (void)state;
    test_file f;
    png_two(&f, (unsigned char[]){1, 2, 3}, (unsigned char[]){4, 5, 6});
    f.bytes[f.size - 20] ^= 1; /* in IDAT's data */
    assert_refused(f.bytes, f.size, "a check sum is wrong");
    png_begin(&f, 2, 1, 8, 2);
    add_chunk(&f, "QUIT", "", 0);
    assert_refused(f.bytes, f.size, "an unknown critical chunk");
    png_begin(&f, 20000, 20000, 8, 2);
    png_end(&f, "", 1);
    assert_refused(f.bytes, f.size, "20000 x 20000 pixels");
    png_begin(&f, 16000, 16000, 8, 2);
    png_end(&f, "", 1);
    assert_refused(f.bytes, f.size, "16000 x 16000 pixels");
    png_begin(&f, 0, 1, 8, 2);
    png_end(&f, "", 1);
    assert_refused(f.bytes, f.size, "PNG");
    png_begin(&f, 8, 8, 8, 2); /* fewer lines than the header says */
    png_end(&f, "", 1);
    assert_refused(f.bytes, f.size, "not enough pixels");
}

/* Damage of any kind may be refused or survived, but never crashes and never gives different pixels twice. */
static void damaged(const unsigned char *bytes, size_t size, uint32_t which)
{
    unsigned char *copy = malloc(size);
    for (uint32_t trial = 0; trial < 3000; trial++) {
        memcpy(copy, bytes, size);
        for (uint32_t k = 0; k <= trial % 3; k++) {
            uint32_t bits = gr__random_bits(which, GR_RNG_PROCEDURAL, trial, k);
            copy[bits % size] = (unsigned char)(bits >> 24);
        }
        if (decode(copy, size) != GR__DECODED)
            continue;
        gr_picture first = picture;
        assert_int_equal(decode(copy, size), GR__DECODED);
        assert_int_equal(first.width * first.height, picture.width * picture.height);
        assert_memory_equal(first.rgb, picture.rgb, (size_t)(first.width * first.height * 3));
        gr__picture_free(&first);
        gr__picture_free(&picture);
    }
    free(copy);
}

static void survives_damage(void **state)
{
    (void)state;
    damaged(tiny_jpeg, sizeof tiny_jpeg, 1);
    damaged(tiny_progressive_jpeg, sizeof tiny_progressive_jpeg, 2);
    damaged(tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg, 3);
    damaged(tiny_grey_jpeg, sizeof tiny_grey_jpeg, 4);
}

/* A colour JPEG that codes only its brightness: what a decoder never writes must not be what the heap held before. */
static void missing_parts(void **state)
{
    (void)state;
    static const unsigned char scan[] = {0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0xcb, 0x54, 0xff, 0xd9};
    test_file f = {.size = 0};
    size_t header = 0;
    while (tiny_jpeg[header] != 0xff || tiny_jpeg[header + 1] != 0xda)
        header++;
    add_bytes(&f, tiny_jpeg, header);
    add_bytes(&f, scan, sizeof scan);
    gr_picture first;
    for (int k = 0; k < 2; k++) {
        mallopt(M_PERTURB, 0x55 + k); /* fills what malloc gives */
        assert_int_equal(decode(f.bytes, f.size), GR__DECODED);
        mallopt(M_PERTURB, 0);
        if (k == 0) {
            first = picture;
            continue;
        }
        assert_memory_equal(first.rgb, picture.rgb, TINY_WIDTH * TINY_HEIGHT * 3);
        gr__picture_free(&first);
        gr__picture_free(&picture);
    }
}

static gr_decoded read_and_decode(const char *path, gr_picture *out, char why[GR__REASON_SIZE])
{
    uint8_t *bytes;
    size_t size;
    gr_decoded result = gr__read_file(path, &bytes, &size, why);
    if (result == GR__DECODED)
        result = gr__decode_bytes(bytes, size, out, why);
    free(bytes);
    return result;
}

static void files(void **state)
{
    (void)state;
    char folder[TEST_PATH], path[2 * TEST_PATH];
    make_folder(folder);
    put_file(folder, "good.jpg", tiny_jpeg, sizeof tiny_jpeg);
    snprintf(path, sizeof path, "%s/good.jpg", folder);
    assert_int_equal(read_and_decode(path, &picture, reason), GR__DECODED);
    assert_tiny(tiny_corners, 3);
    snprintf(path, sizeof path, "%s/absent.jpg", folder);
    assert_int_equal(read_and_decode(path, &picture, reason), GR__UNDECODABLE);
    assert_non_null(strstr(reason, "No such file"));
    assert_int_equal(read_and_decode(folder, &picture, reason), GR__UNDECODABLE);
    assert_string_equal(reason, "a folder, not a picture");
    snprintf(path, sizeof path, "%s/pipe.jpg", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(read_and_decode(path, &picture, reason), GR__UNDECODABLE);
    assert_string_equal(reason, "not a regular file");
    snprintf(path, sizeof path, "%s/huge.jpg", folder);
    put_bytes(path, "", 0);
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    assert_int_equal(read_and_decode(path, &picture, reason), GR__UNDECODABLE);
    assert_string_equal(reason, "larger than 64 MiB");
    remove_folder(folder);
}

/* With no descriptor left, a sound file is not at fault. */
static void the_system_at_fault(void **state)
{
    (void)state;
    char folder[TEST_PATH], path[2 * TEST_PATH];
    struct rlimit before;
    make_folder(folder);
    put_file(folder, "good.jpg", tiny_jpeg, sizeof tiny_jpeg);
    snprintf(path, sizeof path, "%s/good.jpg", folder);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, before.rlim_max}), 0);
    const gr_decoded result = read_and_decode(path, &picture, reason);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(result, GR__UNREADABLE);
    assert_string_equal(reason, strerror(EMFILE));
    remove_folder(folder);
}

/* A JPEG with an Exif segment: a directory of two tags, the orientation the second, in either order of bytes. */
static size_t put_exif(uint8_t *to, bool big, int tag, int type, int value)
{
    const uint8_t head[] = {0xff, 0xd8, 0xff, 0xe0, 0, 4, 'x', 'y', 0xff, 0xe1, 0, 42, 'E', 'x', 'i', 'f', 0, 0};
    const int numbers[] = {42, -8, 2, 0x10f, 2, -1, 0, 0, tag, type, -1, value, 0}; /* below 0: of four bytes */
    size_t n = sizeof head;
    memcpy(to, head, n);
    memcpy(to + n, big ? "MM" : "II", 2);
    n += 2;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const int size = numbers[i] < 0 ? 4 : 2;
        for (int k = 0; k < size; k++)
            to[n++] = (uint8_t)(abs(numbers[i]) >> 8 * (big ? size - 1 - k : k));
    }
    memcpy(to + n, tiny_jpeg + 2, sizeof tiny_jpeg - 2);
    return n + sizeof tiny_jpeg - 2;
}

static void orientations(void **state)
{
    (void)state;
    uint8_t bytes[1024];
    for (int big = 0; big < 2; big++) {
        for (int value = 1; value <= 8; value++) {
            const size_t size = put_exif(bytes, big, 0x112, 3, value);
            assert_int_equal(gr__jpeg_orientation(bytes, size), value);
            assert_int_equal(decode(bytes, size), GR__DECODED);
            assert_tiny(tiny_corners, 3); /* as it is stored */
            for (size_t cut = 0; cut < 52; cut++) {
                uint8_t *part = malloc(cut + 1); /* for whoever watches reads beyond its end */
                memcpy(part, bytes, cut);
                const int found = gr__jpeg_orientation(part, cut);
                assert_int_equal(found, 1);
                free(part);
            }
        }
        assert_int_equal(gr__jpeg_orientation(bytes, put_exif(bytes, big, 0x112, 3, 0)), 1);
        assert_int_equal(gr__jpeg_orientation(bytes, put_exif(bytes, big, 0x112, 3, 9)), 1);
        assert_int_equal(gr__jpeg_orientation(bytes, put_exif(bytes, big, 0x112, 4, 6)), 1);
        assert_int_equal(gr__jpeg_orientation(bytes, put_exif(bytes, big, 0x113, 3, 6)), 1);
    }
    assert_int_equal(gr__jpeg_orientation(tiny_jpeg, sizeof tiny_jpeg), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(jpegs),
                                       cmocka_unit_test(jpeg_with_a_tail),
                                       cmocka_unit_test(pngs),
                                       cmocka_unit_test(cut_short),
                                       cmocka_unit_test(not_images),
                                       cmocka_unit_test(broken_pngs),
                                       cmocka_unit_test(survives_damage),
                                       cmocka_unit_test(files),
                                       cmocka_unit_test(orientations),
                                       cmocka_unit_test(the_system_at_fault),
                                       cmocka_unit_test(missing_parts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
