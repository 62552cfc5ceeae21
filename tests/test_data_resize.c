/* test_data_resize.c - nearest neighbour against Pillow, index for index. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "data/decoding/image.h"

/* Which source pixel each output pixel is: PIL.Image.resize(..., NEAREST) of Pillow 13 on the row 0, 1, 2, ... */
static const struct {
    int from, to;
    int index[32];
} whole[] = {
    {1, 4, {0, 0, 0, 0}},
    {4, 1, {2}},
    {2, 7, {0, 0, 0, 0, 1, 1, 1}}, /* 3.5 * 2 / 7 is 1; the sum in double falls just short of it */
    {3, 5, {0, 0, 1, 2, 2}},
    {5, 3, {0, 2, 4}},
    {10, 10, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
    {7, 12, {0, 0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 6}},
    {53, 32, {0,  2,  4,  5,  7,  9,  10, 12, 14, 15, 17, 19, 20, 22, 24, 25,
              27, 28, 30, 32, 33, 35, 37, 38, 40, 42, 43, 45, 47, 48, 50, 52}},
    {1050, 31, {16,  50,  84,  118, 152, 186, 220, 254, 287, 321, 355, 389, 423, 457, 491, 525,
                558, 592, 626, 660, 694, 728, 762, 795, 829, 863, 897, 931, 965, 999, 1033}},
};

/* Places where Pillow differs from floor((i + 1/2) * from / to), by one. */
static const struct {
    int from, to, i, index;
} single[] = {{480, 200, 12, 29},   {480, 200, 197, 473}, {320, 200, 7, 11},  {320, 200, 182, 291}, {496, 200, 62, 154},
              {496, 200, 112, 278}, {512, 224, 3, 7},     {512, 224, 10, 23}, {512, 224, 220, 503}};

/* Resizes a picture of one row whose pixel x is (x % 256, x / 256, 7) and reads the indices back. */
static void indices_across(int from, int to, int *index)
{
    uint8_t *rgb = malloc((size_t)from * 3), *out = malloc((size_t)to * 3);
    for (int x = 0; x < from; x++) {
        rgb[3 * x] = (uint8_t)x;
        rgb[3 * x + 1] = (uint8_t)(x >> 8);
        rgb[3 * x + 2] = 7;
    }
    gr__resize_nearest(rgb, (int64_t[]){1, from}, 3, (int64_t[]){1, to}, out);
    for (int x = 0; x < to; x++) {
        index[x] = out[3 * x] | out[3 * x + 1] << 8;
        assert_int_equal(out[3 * x + 2], 7);
    }
    free(rgb);
    free(out);
}

static void as_pillow_does(void **state)
{
    (void)state;
    int index[256];
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++) {
        indices_across(whole[k].from, whole[k].to, index);
        for (int i = 0; i < whole[k].to; i++)
            assert_int_equal(index[i], whole[k].index[i]);
    }
    for (size_t k = 0; k < sizeof single / sizeof *single; k++) {
        indices_across(single[k].from, single[k].to, index);
        assert_int_equal(index[single[k].i], single[k].index);
    }
}

/* Rows follow the same rule as columns. */
static void rows_like_columns(void **state)
{
    (void)state;
    enum { FROM = 53, TO = 32 };
    uint8_t rgb[FROM * 3], across[TO * 3], down[TO * 3];
    for (int i = 0; i < FROM * 3; i++)
        rgb[i] = (uint8_t)(i * 7);
    gr__resize_nearest(rgb, (int64_t[]){1, FROM}, 3, (int64_t[]){1, TO}, across);
    gr__resize_nearest(rgb, (int64_t[]){FROM, 1}, 3, (int64_t[]){TO, 1}, down);
    assert_memory_equal(across, down, sizeof across);
}

/* No ratio of sizes reads outside the picture (for the sanitizers), and the order of pixels is never reversed. */
static void stays_inside(void **state)
{
    (void)state;
    int index[256];
    for (int from = 1; from <= 300; from++)
        for (int to = 1; to <= 256; to += 1 + to / 8) {
            indices_across(from, to, index);
            for (int i = 0; i < to; i++)
                assert_in_range(index[i], i ? index[i - 1] : 0, from - 1);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_pillow_does), cmocka_unit_test(rows_like_columns),
                                       cmocka_unit_test(stays_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
