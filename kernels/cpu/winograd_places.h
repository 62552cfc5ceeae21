/*
 * winograd_places.h - the sums around Winograd's products, along one axis: B, G and A of winograd.h and, for
 * gradients, A', B' and G'.
 */
#ifndef GRADUS_CPU_WINOGRAD_PLACES_H
#define GRADUS_CPU_WINOGRAD_PLACES_H

#include "kernels/cpu/cpu.h"

/* Along an axis: pixels of a tile's result, places. */
enum { SIDE = 4, ALONG = SIDE + 2, PLACES = ALONG * ALONG };

/* The points beside 0 and infinity are +-a and +-b. */
#define WINOGRAD_A 0.75f
#define WINOGRAD_B 1.5f
#define WINOGRAD_AA (WINOGRAD_A * WINOGRAD_A)
#define WINOGRAD_BB (WINOGRAD_B * WINOGRAD_B)
/* Each row of G is divided by the product of its point's distances to the others. */
#define WINOGRAD_OVER_0 (1 / (WINOGRAD_AA * WINOGRAD_BB))
#define WINOGRAD_OVER_A (1 / (2 * WINOGRAD_AA * (WINOGRAD_AA - WINOGRAD_BB)))
#define WINOGRAD_OVER_B (1 / (2 * WINOGRAD_BB * (WINOGRAD_BB - WINOGRAD_AA)))

/* e = B d, of six pixels. */
INLINE void pixels_to_places(const vec *d, vec *e)
{
    const vec even_a = d[4] - WINOGRAD_BB * d[2], odd_a = d[3] - WINOGRAD_BB * d[1];
    const vec even_b = d[4] - WINOGRAD_AA * d[2], odd_b = d[3] - WINOGRAD_AA * d[1];
    e[0] = WINOGRAD_AA * WINOGRAD_BB * d[0] + even_a - WINOGRAD_AA * d[2];
    e[1] = even_a + WINOGRAD_A * odd_a;
    e[2] = even_a - WINOGRAD_A * odd_a;
    e[3] = even_b + WINOGRAD_B * odd_b;
    e[4] = even_b - WINOGRAD_B * odd_b;
    e[5] = WINOGRAD_AA * WINOGRAD_BB * d[1] + d[5] - (WINOGRAD_AA + WINOGRAD_BB) * d[3];
}

/* u = G w, of three taps. */
INLINE void taps_to_places(const vec *w, vec *u)
{
    const vec even_a = WINOGRAD_OVER_A * (w[0] + WINOGRAD_AA * w[2]), odd_a = WINOGRAD_OVER_A * WINOGRAD_A * w[1];
    const vec even_b = WINOGRAD_OVER_B * (w[0] + WINOGRAD_BB * w[2]), odd_b = WINOGRAD_OVER_B * WINOGRAD_B * w[1];
    u[0] = WINOGRAD_OVER_0 * w[0];
    u[1] = even_a + odd_a;
    u[2] = even_a - odd_a;
    u[3] = even_b + odd_b;
    u[4] = even_b - odd_b;
    u[5] = w[2];
}

/* y = A e: four pixels. */
INLINE void places_to_pixels(const vec *e, vec *y)
{
    const vec even_a = e[1] + e[2], odd_a = WINOGRAD_A * (e[1] - e[2]);
    const vec even_b = e[3] + e[4], odd_b = WINOGRAD_B * (e[3] - e[4]);
    y[0] = e[0] + (even_a + even_b);
    y[1] = odd_a + odd_b;
    y[2] = WINOGRAD_AA * even_a + WINOGRAD_BB * even_b;
    y[3] = e[5] + (WINOGRAD_AA * odd_a + WINOGRAD_BB * odd_b);
}

/* e = A' y, of four pixels. */
INLINE void results_to_places(const vec *y, vec *e)
{
    e[0] = y[0];
    const vec even_a = y[0] + WINOGRAD_AA * y[2], odd_a = y[1] + WINOGRAD_AA * y[3];
    const vec even_b = y[0] + WINOGRAD_BB * y[2], odd_b = y[1] + WINOGRAD_BB * y[3];
    e[1] = even_a + WINOGRAD_A * odd_a;
    e[2] = even_a - WINOGRAD_A * odd_a;
    e[3] = even_b + WINOGRAD_B * odd_b;
    e[4] = even_b - WINOGRAD_B * odd_b;
    e[5] = y[3];
}

/* d = B' e: six pixels. */
INLINE void places_to_inputs(const vec *e, vec *d)
{
    const vec even_a = e[1] + e[2], odd_a = WINOGRAD_A * (e[1] - e[2]);
    const vec even_b = e[3] + e[4], odd_b = WINOGRAD_B * (e[3] - e[4]);
    d[0] = WINOGRAD_AA * WINOGRAD_BB * e[0];
    d[1] = WINOGRAD_AA * WINOGRAD_BB * e[5] - (WINOGRAD_BB * odd_a + WINOGRAD_AA * odd_b);
    d[2] = -(WINOGRAD_AA + WINOGRAD_BB) * e[0] - (WINOGRAD_BB * even_a + WINOGRAD_AA * even_b);
    d[3] = odd_a + odd_b - (WINOGRAD_AA + WINOGRAD_BB) * e[5];
    d[4] = e[0] + (even_a + even_b);
    d[5] = e[5];
}

/* w = G' u: three taps. */
INLINE void places_to_taps(const vec *u, vec *w)
{
    const vec even_a = WINOGRAD_OVER_A * (u[1] + u[2]), odd_a = WINOGRAD_OVER_A * WINOGRAD_A * (u[1] - u[2]);
    const vec even_b = WINOGRAD_OVER_B * (u[3] + u[4]), odd_b = WINOGRAD_OVER_B * WINOGRAD_B * (u[3] - u[4]);
    w[0] = WINOGRAD_OVER_0 * u[0] + (even_a + even_b);
    w[1] = odd_a + odd_b;
    w[2] = (WINOGRAD_AA * even_a + WINOGRAD_BB * even_b) + u[5];
}

#endif
