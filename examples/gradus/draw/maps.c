/* maps.c - see maps.h. */
#include "draw/maps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw/levels.h"
#include "terminal/json_values.h"

enum { CHANNELS = 16 /* shown of a layer */, SIDE = 64 /* points shown of a map */, ROW = 32, VALUES = 1024 };

typedef struct {
    gr_context *ctx;
    json_t *layers;
    bool lost; /* memory has run out */
} watcher;

/* A layer's answer y[N, P, Q, K] or y[N, K], and what of it is shown. */
typedef struct {
    const float *y;
    int64_t N, P, Q, K;
    int64_t shown, every; /* of K; of P and Q */
    double low, high;     /* of all that is shown */
} answer;

static answer answer_of(const gr_tensor *t, const float *y)
{
    const bool maps = gr_ndim(t) == 4;
    answer a = {.y = y, .N = gr_dim(t, 0), .P = 1, .Q = 1, .K = gr_count(t) / gr_dim(t, 0), .every = 1};
    if (maps) {
        a.P = gr_dim(t, 1);
        a.Q = gr_dim(t, 2);
        a.K = gr_dim(t, 3);
        a.every = levels_every(a.P > a.Q ? a.P : a.Q, SIDE);
    }
    const int64_t most = maps ? CHANNELS : VALUES;
    a.shown = a.K < most ? a.K : most;
    a.low = INFINITY;
    a.high = -INFINITY;
    for (int64_t at = 0; at < a.N * a.P * a.Q; at++)
        for (int64_t k = 0; k < a.shown; k++) {
            a.low = fmin(a.low, (double)y[at * a.K + k]);
            a.high = fmax(a.high, (double)y[at * a.K + k]);
        }
    if (!isfinite(a.low) || !isfinite(a.high)) /* numbers have gone bad: black, and said to be 0 to 0 */
        a.low = a.high = 0;
    return a;
}

/* Channel by channel. */
static json_t *planes(const answer *a, int64_t n)
{
    levels l = {0};
    for (int64_t k = 0; k < a->shown; k++)
        for (int64_t p = 0; p < a->P; p += a->every)
            for (int64_t q = 0; q < a->Q; q += a->every)
                levels_add(&l, (double)a->y[((n * a->P + p) * a->Q + q) * a->K + k], a->low, a->high);
    return levels_json(&l);
}

/* Rows of ROW values; what is missing in the last one is black. */
static json_t *rows(const answer *a, int64_t n)
{
    levels l = {0};
    for (int64_t k = 0; k < (a->shown + ROW - 1) / ROW * ROW; k++)
        levels_add(&l, k < a->shown ? (double)a->y[n * a->K + k] : a->low, a->low, a->high);
    return levels_json(&l);
}

/* The page's picture of an answer. NULL: no memory. */
static json_t *picture(const answer *a, bool maps)
{
    json_t *texts = json_array();
    for (int64_t n = 0; n < a->N; n++)
        if (json_array_append_new(texts, maps ? planes(a, n) : rows(a, n)) != 0) {
            json_decref(texts);
            return NULL;
        }
    const int64_t height = maps ? (a->P + a->every - 1) / a->every : (a->shown + ROW - 1) / ROW;
    const int64_t width = maps ? (a->Q + a->every - 1) / a->every : ROW;
    return json_pack("{s:I, s:I, s:[I, I], s:I, s:I, s:I, s:f, s:f, s:o}", "n", (json_int_t)(maps ? a->shown : 1),
                     "columns",
                     (json_int_t)(!maps          ? 1
                                  : a->shown < 8 ? a->shown
                                                 : 8),
                     "size", (json_int_t)height, (json_int_t)width, "channels", (json_int_t)1, "of", (json_int_t)a->K,
                     "every", (json_int_t)a->every, "low", a->low, "high", a->high, "levels", texts);
}

static json_t *layer_named(json_t *layers, const char *name)
{
    size_t i;
    json_t *layer;
    json_array_foreach(layers, i, layer)
    {
        if (strcmp(text_at(layer, "name"), name) == 0)
            return layer;
    }
    return NULL;
}

/* The last kernel of a layer gives its answer: one before it has prepared its input. */
static void on_kernel(void *user, const gr_trace_event *e)
{
    watcher *w = user;
    const gr_tensor *t = gr_trace_result(w->ctx);
    json_t *layer = t ? layer_named(w->layers, e->module) : NULL;
    if (!layer || w->lost)
        return;
    float *y = malloc((size_t)gr_count(t) * sizeof *y);
    if (y && gr_download(t, y)) {
        const answer a = answer_of(t, y);
        w->lost = json_object_set_new(layer, "maps", picture(&a, gr_ndim(t) == 4)) != 0;
    } else
        w->lost = true;
    free(y);
}

bool maps_add(gr_context *ctx, gr_module *net, gr_dataset *set, json_t *layers)
{
    watcher w = {.ctx = ctx, .layers = layers};
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = gr_dataset_size(set), .order = GR_IN_ORDER});
    gr_batch batch;
    gr_record(ctx, false);
    if (gr_loader_next(loader, &batch)) {
        gr_trace(ctx, on_kernel, &w);
        gr_forward(net, batch.x);
        gr_trace(ctx, NULL, NULL);
    }
    gr_step_end(ctx);
    gr_loader_close(loader);
    return gr_ok(ctx) && !w.lost;
}
