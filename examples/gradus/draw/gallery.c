/* gallery.c - see gallery.h. */
#include "draw/gallery.h"

#include <stdlib.h>

#include "draw/levels.h"

enum { SIDE = 100 /* points of a picture in the page, at most */ };

/* The pixels of x[1, H, W, C] as they were before they were normalised. */
static json_t *picture(const gr_tensor *x, const float *values, const gr_normalise_args *norm)
{
    const int64_t H = gr_dim(x, 1), W = gr_dim(x, 2), C = gr_dim(x, 3), every = levels_every(H > W ? H : W, SIDE);
    const int64_t channels = C == 3 ? 3 : 1;
    levels l = {0};
    for (int64_t h = 0; h < H; h += every)
        for (int64_t w = 0; w < W; w += every)
            for (int64_t c = 0; c < channels; c++) {
                const double std = norm->std[c] > 0 ? (double)norm->std[c] : 1;
                levels_add(&l, (double)values[(h * W + w) * C + c] * std + (double)norm->mean[c], 0, 1);
            }
    json_t *text = levels_json(&l);
    return text ? json_pack("{s:i, s:i, s:[I, I], s:I, s:o}", "n", 1, "columns", 1, "size",
                            (json_int_t)levels_every(H, every), (json_int_t)levels_every(W, every), "channels",
                            (json_int_t)channels, "levels", text)
                : NULL;
}

/* What is said of it; a file's name that is no UTF-8 is told as its number. */
static bool describe(json_t *o, const test_pictures *t, const weights_notes *notes, const mistake *m)
{
    char text[3][32];
    json_t *name = json_string(test_pictures_name(t, m->sample, text[0]));
    json_t *said = json_pack(
        "{s:o, s:s, s:s, s:b, s:f}", "name", name ? name : json_sprintf("sample %lld", (long long)m->sample), "label",
        weights_file_class(notes, m->label, text[1]), "said", weights_file_class(notes, m->said, text[2]), "right",
        m->label == m->said, "probability", m->probability);
    const bool good = json_object_update(o, said) == 0;
    json_decref(said);
    return good;
}

static json_t *entry(const gr_tensor *x, const test_pictures *t, const weights_notes *notes, const mistake *m)
{
    float *values = malloc((size_t)gr_count(x) * sizeof *values);
    json_t *o = values && gr_download(x, values) ? picture(x, values, &notes->recipe->normalise) : NULL;
    free(values);
    if (o && describe(o, t, notes, m))
        return o;
    json_decref(o);
    return NULL;
}

json_t *gallery_json(gr_context *ctx, const test_pictures *t, const weights_notes *notes, const mistake *list,
                     int64_t n)
{
    json_t *all = json_array();
    bool good = all;
    for (int64_t i = 0; good && i < n; i++) {
        gr_dataset *one = gr_dataset_select(t->set, 1, &list[i].sample);
        gr_loader *loader = gr_loader_open(one, &(gr_loader_options){.batch = 1, .order = GR_IN_ORDER});
        gr_batch batch;
        good = gr_loader_next(loader, &batch) && json_array_append_new(all, entry(batch.x, t, notes, &list[i])) == 0;
        gr_step_end(ctx);
        gr_loader_close(loader);
    }
    if (good && gr_ok(ctx))
        return all;
    json_decref(all);
    return NULL;
}
