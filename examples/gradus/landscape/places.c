/* places.c - see places.h. */
#include "landscape/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/doubles.h"

void places_open(places *p, gr_module *net)
{
    *p = (places){.net = net, .states = gr_state_count(net)};
}

static void free_term(const places *p, double **term)
{
    for (int i = 0; term && i < p->states; i++)
        free(term[i]);
    free(term);
}

void places_close(places *p)
{
    for (int k = 0; k < p->n; k++)
        free_term(p, p->terms[k]);
    *p = (places){0};
}

/* A term of zeros, not yet one of p's. NULL: no memory. */
static double **new_term(const places *p)
{
    double **term = calloc((size_t)p->states + 1, sizeof *term);
    for (int i = 0; term && i < p->states; i++) {
        term[i] = calloc((size_t)gr_count(gr_state(p->net, i)), sizeof **term);
        if (!term[i]) {
            free_term(p, term);
            return NULL;
        }
    }
    return term;
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static bool put(gr_tensor *t, const double *values)
{
    const int64_t n = gr_count(t);
    if (gr_type_of(t) == GR_F64)
        return gr_upload(t, values);
    float *raw = malloc((size_t)n * sizeof *raw);
    for (int64_t i = 0; raw && i < n; i++)
        raw[i] = (float)values[i];
    const bool good = raw && gr_upload(t, raw);
    free(raw);
    return good;
}

bool places_take(places *p)
{
    double **term = new_term(p);
    bool good = term != NULL;
    for (int i = 0; good && i < p->states; i++)
        good = doubles_of(gr_state(p->net, i), term[i]);
    if (good)
        p->terms[p->n++] = term;
    else
        free_term(p, term);
    return good;
}

static bool is_variance(const char *name)
{
    const char *end = "running_var";
    return strlen(name) >= strlen(end) && strcmp(name + strlen(name) - strlen(end), end) == 0;
}

bool places_go(const places *p, const double *factors)
{
    bool good = true;
    for (int i = 0; good && i < p->states; i++) {
        gr_tensor *t = gr_state(p->net, i);
        const bool variance = is_variance(gr_state_name(p->net, i));
        const int64_t n = gr_count(t);
        double *sum = calloc((size_t)n, sizeof *sum);
        for (int k = 0; sum && k < p->n; k++)
            for (int64_t j = 0; factors[k] != 0 && j < n; j++)
                sum[j] += factors[k] * p->terms[k][i][j];
        for (int64_t j = 0; sum && variance && j < n; j++)
            sum[j] = fmax(0, sum[j]);
        good = sum && put(t, sum);
        free(sum);
    }
    return good;
}

/* --- directions --------------------------------------------------------------------------------------------------- */

/* The next of a row of random numbers in (0, 1): Steele, Lea and Flood 2014, splitmix64. */
static double uniform(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}

/* Box and Muller 1958. */
static double normal(uint64_t *state)
{
    const double u = uniform(state), v = uniform(state);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

/* How many filters or units a parameter holds: K,R,S,C has K, [in, out] has out. */
static int64_t parts_of(const gr_tensor *t)
{
    return gr_ndim(t) == 4 ? gr_dim(t, 0) : gr_ndim(t) == 2 ? gr_dim(t, 1) : 1;
}

/* Which of them element j belongs to. */
static int64_t part_of(const gr_tensor *t, int64_t j)
{
    return gr_ndim(t) == 4 ? j / (gr_count(t) / gr_dim(t, 0)) : gr_ndim(t) == 2 ? j % gr_dim(t, 1) : 0;
}

/* Draws a direction for a parameter, each part as long as that of weights. False: no memory. */
static bool draw(const gr_tensor *t, const double *weights, uint64_t *state, double *direction)
{
    const int64_t n = gr_count(t), parts = parts_of(t);
    double *square = calloc((size_t)(2 * parts), sizeof *square), *wanted = square + parts;
    for (int64_t j = 0; square && j < n; j++) {
        const int64_t part = part_of(t, j);
        direction[j] = normal(state);
        square[part] += direction[j] * direction[j];
        wanted[part] += weights[j] * weights[j];
    }
    for (int64_t j = 0; square && j < n; j++)
        direction[j] *= sqrt(wanted[part_of(t, j)] / square[part_of(t, j)]);
    free(square);
    return square != NULL;
}

bool places_draw(places *p, uint64_t seed)
{
    double **term = new_term(p);
    uint64_t state = seed;
    bool good = term != NULL;
    for (int i = 0; good && i < gr_parameter_count(p->net); i++)
        if (gr_ndim(gr_state(p->net, i)) > 1)
            good = draw(gr_state(p->net, i), p->terms[0][i], &state, term[i]);
    if (good)
        p->terms[p->n++] = term;
    else
        free_term(p, term);
    return good;
}
