/* layer_list.c - layers that are read one after the other, and the names that they may be given. */
#include <string.h>

#include "nn/text/text.h"

bool gr__text_add(gr_text *t, gr_layers *list, gr_module *layer, const gr_word *word)
{
    if (!layer)
        return false;
    if (++t->layers > GR__TEXT_LAYERS)
        return gr__text_fail(t, word, "more than %d layers", GR__TEXT_LAYERS);
    if (!gr__grow(t->ctx, &list->layers, &list->capacity, list->n + 1, sizeof *list->layers))
        return false;
    if (layer->origin.line == 0)
        layer->origin = (gr_origin){.file = t->name, .line = t->line.number, .column = word->column};
    list->layers[list->n++] = layer;
    return true;
}

/* Whether a name is one that Gradus gives: "conv1". */
static bool is_given(const char *name)
{
    static const gr_module_class *const classes[] = {
        &gr__conv2d_class,          &gr__max_pool2d_class, &gr__dense_class,
        &gr__dropout_class,         &gr__flatten_class,    &gr__batch_norm_class,
        &gr__global_avg_pool_class, &gr__sequential_class, &gr__residual_class,
#define GR_OP(...)
#define GR_UNARY(name, ...) &gr__##name##_class,
#include "kernels/ops/ops.def"
    };
    size_t stem = strlen(name);
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    for (size_t i = 0; name[stem] && i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i]->kind) == stem && strncmp(classes[i]->kind, name, stem) == 0)
            return true;
    return false;
}

const gr_word *gr__text_name(gr_text *t, const gr_layers *list)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char all[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const gr_word *w = gr__text_word(t);
    bool good = w && strspn(w->text, letters) > 0 && strlen(w->text) < GR__NAME_SIZE && !w->text[strspn(w->text, all)];
    if (!good)
        gr__text_fail(t, w, "a name is missing; it begins with a letter and has at most %d letters, digits and _",
                      GR__NAME_SIZE - 1);
    else if (is_given(w->text))
        good = gr__text_fail(t, w, "\"%s\" is what layers without a name are called; choose another name", w->text);
    for (int i = 0; good && i < list->n; i++)
        if (strcmp(list->layers[i]->given, w->text) == 0)
            good = gr__text_fail(t, w, "line %d has a layer named \"%s\" already; choose another name",
                                 list->layers[i]->origin.line, w->text);
    return good ? w : NULL;
}
