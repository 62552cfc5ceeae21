/*
 * conv_pooled_forward.c - pictures under 3x3 filters, ReLU and windows of 2x2, with 16 products where there are 36: the
 * windows are the tiles of Winograd's F(2x2, 3x3), as Lavin and Gray (2016) have it:
 *
 *   y = A ( sum_c (G w G') . (B d B') ) A'       . multiplies the 16 places one by one, ' transposes
 *
 *        1  0 -1  0         1    0    0          1  1  1  0
 *   B =  0  1  1  0    G = 1/2  1/2  1/2    A =  0  1 -1 -1
 *        0 -1  1  0        1/2 -1/2  1/2
 *        0  1  0 -1         0    0    1
 *
 * A result is made of nothing but the pixels that it sees, other than with larger tiles, and errs little more than the
 * direct sum does. Where all that a window sees is the same, every place but one is exactly 0: results of a plain patch
 * of a picture are equal to the bit, and the first of them wins as it should.
 *
 * A result is only 48 products, so that what surrounds them counts. B d B' of a block of windows is made once for all
 * filters. Then for VECS vectors of filters at WINDOWS windows the products of each place are added to the four
 * results, which stay in registers until the best is chosen.
 */
#include "kernels/cpu/any_float.h"
#include "kernels/cpu/conv_pooled.h"
#include "kernels/cpu/pooling.h"

enum {
    ALONG = POOL_PATCH, /* places along an axis, as many as pixels seen */
    STEP = 2 * COLOURS, /* floats of a row of x from window to window */
    BLOCK = 32,         /* windows whose B d B' stay in the first-level cache */
    SEEN = BLOCK * STEP + STEP + VL,
#ifdef TALL_TILES
    WINDOWS = 4, /* under one vector of filters: 16 results and 4 products in 32 registers */
    VECS = 1,
#else
    WINDOWS = 1, /* under two: 8 and 2 in 16, for half as many numbers read of what the window sees */
    VECS = 2,
#endif
    SUMS = WINDOWS * VECS /* sum v * windows + j is of vector v at window j */
};

/* --- what windows see --------------------------------------------------------------------------------------------- */

/* B d of four rows or columns: place i. */
INLINE vec place_of(vec d0, vec d1, vec d2, vec d3, const int i)
{
    return i == 0 ? d0 - d2 : i == 1 ? d1 + d2 : i == 2 ? d2 - d1 : d1 - d3;
}

/* B d along the columns: n floats of each of four rows, to seen[place]. */
static void rows_to_places(const float *x, int64_t pitch, int64_t n, float seen[ALONG][SEEN])
{
    for (int64_t i = 0; i < n; i += VL) {
        vec d[POOL_PATCH];
        UNROLL
        for (int r = 0; r < POOL_PATCH; r++)
            d[r] = vec_load_n(x + r * pitch + i, min64(VL, n - i));
        UNROLL
        for (int place = 0; place < ALONG; place++)
            vec_store(seen[place] + i, place_of(d[0], d[1], d[2], d[3], place));
    }
}

/* B d B' of n windows: channel c of window j at places[p][j * STEP + c]. What lies between is of no use. */
static void windows_to_places(const float *x, int64_t pitch, int64_t n, float places[COLOURS_PLACES][BLOCK * STEP])
{
    float seen[ALONG][SEEN] __attribute__((aligned(64)));
    rows_to_places(x, pitch, (n + 1) * STEP, seen);
    for (int row = 0; row < ALONG; row++)
        for (int64_t i = 0; i < n * STEP; i += VL) {
            vec d[POOL_PATCH];
            UNROLL
            for (int s = 0; s < POOL_PATCH; s++)
                d[s] = vec_load(seen[row] + i + s * COLOURS);
            UNROLL
            for (int col = 0; col < ALONG; col++)
                vec_store(places[ALONG * row + col] + i, place_of(d[0], d[1], d[2], d[3], col));
        }
}

/* --- filters ------------------------------------------------------------------------------------------------------ */

/* G w of three taps: place i. */
INLINE vec tap_place_of(vec w0, vec w1, vec w2, const int i)
{
    return i == 0 ? w0 : i == 1 ? 0.5f * (w0 + w2 + w1) : i == 2 ? 0.5f * (w0 + w2 - w1) : w2;
}

/* G w G' of a vector of filters: w[3][3][COLOURS][PANEL] to u[place][COLOURS][PANEL]. */
static void transform_filters(const float *w, float *u)
{
    enum { TAP = COLOURS * PANEL };
    vec rows[ALONG][POOL_TAPS];
    UNROLL
    for (int s = 0; s < POOL_TAPS; s++)
        for (int i = 0; i < ALONG; i++)
            rows[i][s] =
                tap_place_of(vec_load(w + s * TAP), vec_load(w + (3 + s) * TAP), vec_load(w + (6 + s) * TAP), i);
    UNROLL
    for (int i = 0; i < COLOURS_PLACES; i++)
        vec_store(u + i * TAP, tap_place_of(rows[i / ALONG][0], rows[i / ALONG][1], rows[i / ALONG][2], i % ALONG));
}

void conv_pooled_colours_filters(const float *packed, int64_t panels, float *u)
{
    for (int64_t p = 0; p < panels; p++)
        for (int i = 0; i < COLOURS * PANEL; i += VL)
            transform_filters(packed + p * POOL_TAPS * POOL_TAPS * COLOURS * PANEL + i,
                              u + p * COLOURS_PLACES * COLOURS * PANEL + i);
}

/* --- products ----------------------------------------------------------------------------------------------------- */

/* to[sum] += or -= (sign) the products at one place, summed over the colours. */
INLINE void add_place(const float *seen, const float *u, const int sign, vec *to, const int step, const int windows)
{
    UNROLL
    for (int c = 0; c < COLOURS; c++) {
        UNROLL
        for (int i = 0; i < VECS * windows; i++) {
            const vec m = seen[i % windows * STEP + c] * vec_load(u + c * PANEL + i / windows * VL);
            to[i * step] = sign > 0 ? to[i * step] + m : to[i * step] - m;
        }
    }
}

/* A row of places by A': to[sum][0] += or -= (sign) m0 + m1 + m2 and to[sum][1] m1 - m2 - m3. */
INLINE void add_row(const float *seen, const float *u, const int sign, vec *to, const int step, const int windows)
{
    add_place(seen, u, sign, to, step, windows);
    UNROLL
    for (int place = 1; place <= 2; place++) { /* these count for both */
        const int second = place == 1 ? sign : -sign;
        vec m[SUMS] = {{0}};
        add_place(seen + place * BLOCK * STEP, u + place * COLOURS * PANEL, 1, m, 1, windows);
        UNROLL
        for (int i = 0; i < VECS * windows; i++) {
            to[i * step] = sign > 0 ? to[i * step] + m[i] : to[i * step] - m[i];
            to[i * step + 1] = second > 0 ? to[i * step + 1] + m[i] : to[i * step + 1] - m[i];
        }
    }
    add_place(seen + 3 * BLOCK * STEP, u + 3 * COLOURS * PANEL, -sign, to + 1, step, windows);
}

/*
 * A m A' of windows: y[sum][2 * row + column]. The first row of places counts for the upper results alone and the
 * last one for the lower ones: they are added where these are.
 */
INLINE void sum_windows(const float *seen, const float *u, const float *bias, vec y[][POOL_PLACES], const int windows)
{
    enum { SEEN_ROW = ALONG * BLOCK * STEP, U_ROW = ALONG * COLOURS * PANEL };
    UNROLL
    for (int i = 0; i < VECS * windows * POOL_PLACES; i++)
        y[i / POOL_PLACES][i % POOL_PLACES] = vec_load(bias + i / POOL_PLACES / windows * VL);
    add_row(seen, u, 1, &y[0][0], POOL_PLACES, windows);
    UNROLL
    for (int row = 1; row <= 2; row++) {
        vec t[SUMS][2] = {{{0}}};
        add_row(seen + row * SEEN_ROW, u + row * U_ROW, 1, &t[0][0], 2, windows);
        UNROLL
        for (int i = 0; i < VECS * windows * 2; i++) {
            const int j = i / 2, col = i % 2;
            y[j][col] += t[j][col];
            y[j][2 + col] = row == 1 ? y[j][2 + col] + t[j][col] : y[j][2 + col] - t[j][col];
        }
    }
    add_row(seen + 3 * SEEN_ROW, u + 3 * U_ROW, -1, &y[0][2], POOL_PLACES, windows);
}

/*
 * The vectors of filters from k on, at windows from `at` on of the block that begins at the first one. What is no
 * larger than 0 does not compete: that is the ReLU.
 */
INLINE void run(const colours_row *row, gr_type type, const float *seen, int64_t first, int64_t at, int64_t k,
                const int windows)
{
    const float *u = row->u + k / PANEL * COLOURS_PLACES * COLOURS * PANEL + k % PANEL;
    vec y[SUMS][POOL_PLACES];
    sum_windows(seen + at * STEP, u, row->bias + k, y, windows);
    UNROLL
    for (int i = 0; i < VECS * windows; i++) {
        const int64_t filter = k + i / windows * VL, n = min64(VL, row->k - filter);
        const int64_t to = row->at + (first + at + i % windows) * row->k + filter;
        if (n <= 0)
            break;
        best b = {{0}, ivec_all(NOWHERE)};
        UNROLL
        for (int place = 0; place < POOL_PLACES; place++)
            compete(&b, y[i][place], place);
        if (row->stream)
            vec_stream((float *)row->y + to, b.value);
        else
            store_as_n(type, row->y, to, b.value, n);
        if (row->argmax)
            write_place(&b, row->argmax + to, n);
    }
}

INLINE void run_row(const colours_row *row, gr_type type)
{
    float places[COLOURS_PLACES][BLOCK * STEP] __attribute__((aligned(64)));
    for (int64_t first = 0; first < row->windows; first += BLOCK) {
        const int64_t n = min64(BLOCK, row->windows - first);
        windows_to_places(row->x + first * STEP, row->pitch, n, places);
        for (int64_t k = 0; k < row->k; k += VECS * VL) {
            ahead_ask(row->next);
            for (int64_t at = 0; n >= WINDOWS && at < n; at += WINDOWS) /* the last ones once more, if need be */
                run(row, type, places[0], first, min64(at, n - WINDOWS), k, WINDOWS);
            for (int64_t at = 0; n < WINDOWS && at < n; at++)
                run(row, type, places[0], first, at, k, 1);
        }
    }
}

int64_t conv_pooled_colours_chances(int64_t windows, int64_t k)
{
    return ceil_div(windows, BLOCK) * ceil_div(k, VECS * VL);
}

void conv_pooled_colours_run(const colours_row *row)
{
    if (row->type == GR_F32)
        run_row(row, GR_F32);
    else if (row->type == GR_F16)
        run_row(row, GR_F16);
    else
        run_row(row, GR_BF16);
}
