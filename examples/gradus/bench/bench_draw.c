/* bench_draw.c - see bench_draw.h. */
#include "bench/bench_draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_half.h"

/* 64 bits that look random, a function of i alone: the finaliser of splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t scramble(uint64_t i)
{
    i += 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static void store(void *values, gr_type type, int64_t i, double x)
{
    switch (type) {
    case GR_F64:
        ((double *)values)[i] = x;
        break;
    case GR_F32:
        ((float *)values)[i] = (float)x;
        break;
    case GR_F16:
    case GR_BF16:
        ((uint16_t *)values)[i] = half_bits(type, x);
        break;
    case GR_I32:
        ((int32_t *)values)[i] = (int32_t)x;
        break;
    default:
        ((uint8_t *)values)[i] = (uint8_t)x;
    }
}

/* Number i of the maps of pictures with side pixels a side: see gr_augment. */
static double map_number(int side, bool turned, int64_t i)
{
    const int64_t k = i % GR_MAP;
    const uint64_t bits = scramble((uint64_t)(i / GR_MAP));
    const bool mirrored = bits % 2;
    const double move[2] = {(double)(bits / 2 % 9) - 4, (double)(bits / 32 % 9) - 4}, slope = turned ? 0.125 : 0;
    const double numbers[6] = {mirrored ? -1 : 1, slope, (mirrored ? side - 1 : 0) + move[0] + 0.5, -slope, 1,
                               move[1] + 0.5};
    if (k >= 12) /* the box is empty */
        return 0;
    const double number = numbers[k / 2], whole = floor(number);
    return k % 2 ? (double)(int32_t)(uint32_t)((number - whole) * 0x1p32) : whole;
}

/* Element i of an input. */
static double draw(const bench_input *input, int key, int64_t i)
{
    uint64_t bits = scramble((uint64_t)i + ((uint64_t)key << 56)) >> 20;
    if (input->maps)
        return map_number(input->classes, input->turned, i);
    if (input->classes)
        return (double)(bits % (uint64_t)input->classes);
    if (input->bytes)
        return (double)(bits % 256);
    if (input->fine)
        return ((double)(bits % 257) - 128) / 128;
    const double quarter = 0.25 * ((double)(bits % 9) - 4);
    return input->positive ? 0.5 + 0.125 * (double)(bits % 8) : input->bias ? quarter + 0.03125 : quarter;
}

/*
 * How many of so many elements are drawn; the rest repeats them. A prime: rows, channels and tiles fall on other
 * numbers each time, so that what takes one for another is still found out.
 */
static int64_t drawn(const bench_input *input, int64_t count)
{
    enum { CYCLE = 65537 };
    return input->maps || count < CYCLE ? count : CYCLE;
}

/* Repeats the first period of count bytes until they are full. */
static void repeat(void *values, int64_t period, int64_t count)
{
    for (int64_t i = period; i < count; i += period)
        memcpy((char *)values + i, values, (size_t)(period < count - i ? period : count - i));
}

void bench_draw(const bench_input *input, int key, int64_t count, double *values)
{
    const int64_t first = drawn(input, count), size = sizeof *values;
    for (int64_t i = 0; i < first; i++)
        values[i] = draw(input, key, i);
    repeat(values, first * size, count * size);
}

bool bench_fill(gr_tensor *t, const bench_input *input, int key, int64_t batch, int64_t period)
{
    const gr_type type = gr_type_of(t);
    const int64_t count = gr_count(t), some = input->has_batch ? count / batch * period : count; /* divides count */
    const int64_t first = drawn(input, some), size = (int64_t)gr_type_size(type);
    const double scale = input->outside && input->has_batch ? (double)period / (double)batch : 1;
    char *values = malloc((size_t)(count * size));
    for (int64_t i = 0; values && i < first; i++)
        store(values, type, i, scale * draw(input, key, i));
    if (values) {
        repeat(values, first * size, some * size);
        repeat(values, some * size, count * size);
    }
    bool done = values && gr_upload(t, values);
    free(values);
    return done;
}
