/*
 * test_data_turbo.c - libjpeg-turbo beside stb_image: says how far their pixels differ and how fast each is, on the
 * tests' own JPEGs and on real photographs where $GRADUS_DATA has some. Skipped where the library was built without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <dirent.h>
#include <time.h>

#include "data/data.h"
#include "data/decoding/image.h"
#include "test_data_files.h"

/* Over all pictures so far. */
typedef struct {
    int pictures, refused;              /* refused: libjpeg-turbo left them to stb_image */
    int64_t bytes, differ, sum, beyond; /* colour values in all, unequal, sum of differences, differences above 3 */
    int most;
    double seconds[2]; /* stb_image, libjpeg-turbo */
} tally;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static gr_decoded timed(gr_jpeg_choice by, const uint8_t *bytes, size_t size, gr_picture *picture, double *seconds)
{
    char reason[GR__REASON_SIZE];
    double start = now();
    gr_decoded result = gr__decode_bytes_by(by, bytes, size, picture, reason);
    *seconds += now() - start;
    return result;
}

/* Both decoders take turns at the same bytes; what only one of them takes would make two builds see two sets. */
static void compare(tally *t, const uint8_t *bytes, size_t size)
{
    gr_picture stb, turbo;
    double spent[2] = {0};
    gr_decoded by_stb = timed(GR__JPEG_STB, bytes, size, &stb, &spent[0]);
    gr_decoded by_turbo = timed(GR__JPEG_TURBO, bytes, size, &turbo, &spent[1]);
    if (by_turbo != GR__DECODED) {
        t->refused += by_stb == GR__DECODED;
        gr__picture_free(&stb);
        return;
    }
    assert_int_equal(by_stb, GR__DECODED);
    assert_int_equal(stb.width, turbo.width);
    assert_int_equal(stb.height, turbo.height);
    for (int64_t i = 0; i < stb.width * stb.height * 3; i++) {
        int d = abs(stb.rgb[i] - turbo.rgb[i]);
        t->differ += d != 0;
        t->beyond += d > 3;
        t->sum += d;
        t->most = d > t->most ? d : t->most;
    }
    t->bytes += stb.width * stb.height * 3;
    t->pictures++;
    t->seconds[0] += spent[0];
    t->seconds[1] += spent[1];
    gr__picture_free(&stb);
    gr__picture_free(&turbo);
}

static void say(const char *what, const tally *t)
{
    printf(
        "%s: %d JPEGs; %.2f %% of the values differ, by %.3f on average over all, %d at most, %.4f %% by more than 3; "
        "%d left to stb_image\n",
        what, t->pictures, 100 * (double)t->differ / (double)t->bytes, (double)t->sum / (double)t->bytes, t->most,
        100 * (double)t->beyond / (double)t->bytes, t->refused);
}

static void compare_file(tally *t, const char *path)
{
    uint8_t *bytes;
    size_t size;
    char reason[GR__REASON_SIZE];
    if (gr__read_file(path, &bytes, &size, reason) == GR__DECODED && size > 2 && bytes[0] == 0xff)
        compare(t, bytes, size);
    free(bytes);
}

static void compare_folder(tally *t, const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096 + 256];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        compare_file(t, path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Pillow decodes by libjpeg-turbo: its pixels at the corners and inside, to the bit. */
static void as_pillow(void **state)
{
    (void)state;
    static const int at[5][2] = {
        {0, 0}, {TINY_WIDTH - 1, 0}, {0, TINY_HEIGHT - 1}, {TINY_WIDTH - 1, TINY_HEIGHT - 1}, {11, 7}};
    char reason[GR__REASON_SIZE];
    gr_picture picture;
    assert_int_equal(gr__decode_bytes(tiny_jpeg, sizeof tiny_jpeg, &picture, reason), GR__DECODED);
    for (int i = 0; i < 5; i++)
        assert_memory_equal(picture.rgb + 3 * (at[i][1] * TINY_WIDTH + at[i][0]), tiny_corners[i], 3);
    gr__picture_free(&picture);
}

static void own_files(void **state)
{
    (void)state;
    tally t = {0};
    compare(&t, tiny_jpeg, sizeof tiny_jpeg);
    compare(&t, tiny_progressive_jpeg, sizeof tiny_progressive_jpeg);
    compare(&t, tiny_grey_jpeg, sizeof tiny_grey_jpeg);
    for (int i = 0; i < 6; i++) {
        static const char *const names[6] = {"baseline", "progressive", "restart", "grey", "exif", "cmyk"};
        char path[4096];
        snprintf(path, sizeof path, "%s/fuzz/corpus/image/%s.jpg", GRADUS_TESTS, names[i]);
        compare_file(&t, path);
    }
    say("the tests' own", &t);
    assert_int_equal(t.pictures, 8);
    assert_in_range(t.most, 0, 4);
    compare(&t, tiny_cmyk_jpeg, sizeof tiny_cmyk_jpeg);
    assert_int_equal(t.refused, 2); /* this one, and that of the corpus */
}

static void photographs(void **state)
{
    (void)state;
    const char *root = getenv("GRADUS_DATA");
    char path[4096];
    tally t = {0};
    for (int class = 0; root && class < 2; class ++) {
        snprintf(path, sizeof path, "%s/PetImages/%s", root, class ? "Dog" : "Cat");
        compare_folder(&t, path);
    }
    if (t.pictures == 0)
        skip();
    say("PetImages", &t);
    printf("one thread, taking turns: stb_image %.0f pictures/s, libjpeg-turbo %.0f\n", t.pictures / t.seconds[0],
           t.pictures / t.seconds[1]);
    assert_true((double)t.sum / (double)t.bytes < 0.5);
    assert_true((double)t.beyond / (double)t.bytes < 0.001);
}

int main(void)
{
    unsetenv("GRADUS_JPEG");
    if (strcmp(gr_jpeg_decoder(), "libjpeg-turbo") != 0)
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_pillow), cmocka_unit_test(own_files),
                                       cmocka_unit_test(photographs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
