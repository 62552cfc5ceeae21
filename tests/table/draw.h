/*
 * draw.h - the numbers of a row, drawn by Philox from the hash of its line. scripts/make_goldens.py draws the same.
 *
 * Every real number drawn is exactly a float, so devices in float and in double compute on the same inputs.
 */
#ifndef GRADUS_TABLE_DRAW_H
#define GRADUS_TABLE_DRAW_H

#include "tests/table/row.h"

/* Streams of a row: its input slots, the gradient that comes in, what gradient buffers hold before. */
enum { DRAW_DY = 16, DRAW_PRELOAD = 32 };

/* Element i of a stream, uniform in [-1, 1): a multiple of 2^-23. */
float draw_uniform(const row *r, uint32_t stream, uint64_t i);

/* Fills a whole input slot; values has room for count elements, converted to double whatever the slot's type. */
void draw_input(const row *r, int slot, int64_t count, double *values);

/* Fills with draw_uniform. */
void draw_stream(const row *r, uint32_t stream, int64_t count, double *values);

#endif
