/* filters.c - see filters.h. */
#include "draw/filters.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw/levels.h"
#include "terminal/json_values.h"

enum { COLOURED = 64 /* filters shown, of pictures in colour */, GREY = 16 /* filters, and channels of each */ };

/* The filters of the operation "conv1+relu1+pool1": "conv1.weight". NULL: it has none. */
static gr_tensor *filters_of(const gr_module *net, const char *layer)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s.weight", (int)strcspn(layer, "+"), layer);
    for (int i = 0; i < gr_parameter_count(net); i++)
        if (strcmp(gr_parameter_name(net, i), name) == 0 && gr_ndim(gr_parameter(net, i)) == 4)
            return gr_parameter(net, i);
    return NULL;
}

static double largest(const float *w, int64_t n)
{
    double high = 0;
    for (int64_t i = 0; i < n; i++)
        high = fmax(high, fabs((double)w[i]));
    return isfinite(high) ? high : 0;
}

/* The page's picture of filters w[K, R, S, C]. NULL: no memory. */
static json_t *tiles(const float *w, int64_t K, int64_t R, int64_t S, int64_t C)
{
    const bool colours = C == 3;
    const int64_t rows = K < (colours ? COLOURED : GREY) ? K : colours ? COLOURED : GREY;
    const int64_t columns = colours ? 1 : C < GREY ? C : GREY, channels = colours ? 3 : 1;
    const double high = largest(w, K * R * S * C);
    levels l = {0};
    for (int64_t k = 0; k < rows; k++)
        for (int64_t column = 0; column < columns; column++)
            for (int64_t at = 0; at < R * S; at++)
                for (int64_t c = column; c < column + channels; c++)
                    levels_add(&l, (double)w[(k * R * S + at) * C + c], -high, high);
    json_t *text = levels_json(&l);
    return text ? json_pack("{s:I, s:I, s:[I, I], s:I, s:[I, I], s:f, s:o}", "n", (json_int_t)(rows * columns),
                            "columns", (json_int_t)(colours ? 8 : columns), "size", (json_int_t)R, (json_int_t)S,
                            "channels", (json_int_t)channels, "of", (json_int_t)K, (json_int_t)C, "high", high,
                            "levels", text)
                : NULL;
}

bool filters_add(gr_module *net, json_t *layers)
{
    size_t i;
    json_t *layer;
    json_array_foreach(layers, i, layer)
    {
        gr_tensor *w = filters_of(net, text_at(layer, "name"));
        if (!w)
            continue;
        float *values = malloc((size_t)gr_count(w) * sizeof *values);
        json_t *o = values && gr_download(w, values)
                        ? tiles(values, gr_dim(w, 0), gr_dim(w, 1), gr_dim(w, 2), gr_dim(w, 3))
                        : NULL;
        free(values);
        if (!o || json_object_set_new(layer, "filters", o) != 0)
            return false;
    }
    return true;
}
