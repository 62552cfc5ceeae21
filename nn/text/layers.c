/* layers.c - a line of a model's text to the layer that it describes: what may stand in it, kind by kind. */
#include <stdio.h>
#include <string.h>

#include "nn/text/text.h"

enum { MOST_UNITS = 1 << 16 };

/* What a line may say behind its kind and sizes, a bit each. */
enum {
    STRIDE = 1,
    PAD = 2,
    SAME = 4,
    NO_BIAS = 8,
    INIT = 16,
    L2 = 32,
    EPSILON = 64,
    MOMENTUM = 128,
    ACTIVATION = 256,
    NAMED = 512
};

typedef struct {
    unsigned given;
    int window[2], stride, pad, units;
    gr_init init;
    double rate, l2, epsilon, momentum;
    const gr_word *activation, *name;
} layer_words;

/* --- words behind a layer ----------------------------------------------------------------------------------------- */

static const char *const inits[] = {[GR_GLOROT_UNIFORM] = "glorot_uniform",
                                    [GR_HE_UNIFORM] = "he_uniform",
                                    [GR_KAIMING_UNIFORM] = "kaiming_uniform",
                                    [GR_KAIMING_NORMAL] = "kaiming_normal",
                                    [GR_DIRAC] = "dirac"};
enum { INITS = sizeof inits / sizeof *inits };

/* relu, sigmoid, ...: of each GR_UNARY in ops.def. */
static const struct {
    const char *name;
    gr_module *(*make)(gr_context *ctx);
} activations[] = {
#define GR_OP(...)
#define GR_UNARY(name, ...) {#name, gr_##name##_layer},
#include "kernels/ops/ops.def"
};
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static int find_activation(const char *word)
{
    int i = 0;
    while (i < ACTIVATIONS && strcmp(activations[i].name, word) != 0)
        i++;
    return i;
}

/* Which of the bits above a word is; 0: none. */
static unsigned bit_of(const gr_word *w, gr_init *init)
{
    static const struct {
        const char *word;
        unsigned bit;
    } words[] = {{"stride", STRIDE}, {"pad", PAD},         {"same", SAME},         {"no_bias", NO_BIAS},
                 {"l2", L2},         {"epsilon", EPSILON}, {"momentum", MOMENTUM}, {"named", NAMED}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, w->text) == 0)
            return words[i].bit;
    for (int i = 0; i < INITS; i++)
        if (inits[i] && strcmp(inits[i], w->text) == 0) {
            *init = (gr_init)i;
            return INIT;
        }
    return find_activation(w->text) < ACTIVATIONS ? ACTIVATION : 0;
}

/* What stands behind the word of that bit. False: recorded. */
static bool take_value(gr_text *t, const gr_word *w, unsigned bit, const gr_layers *list, layer_words *l)
{
    switch (bit) {
    case STRIDE:
        return gr__text_count(t, "the stride", 1, GR__MOST_WINDOW, &l->stride);
    case PAD:
        return gr__text_count(t, "the padding", 0, GR__MOST_WINDOW, &l->pad);
    case L2:
        return gr__text_real(t, "l2", 1e6, &l->l2);
    case EPSILON:
        return gr__text_real(t, "epsilon", 1, &l->epsilon);
    case MOMENTUM:
        return gr__text_real(t, "the momentum", 1, &l->momentum);
    case NAMED:
        return (l->name = gr__text_name(t, list)) != NULL;
    case ACTIVATION:
        l->activation = w;
        return true;
    default:
        return true;
    }
}

/* All words left on the line, of which a layer of that kind takes some. False: recorded. */
static bool take_words(gr_text *t, const char *kind, unsigned allowed, const char *form, const gr_layers *list,
                       layer_words *l)
{
    for (const gr_word *w; (w = gr__text_word(t));) {
        const unsigned bit = bit_of(w, &l->init);
        if (!(bit & allowed))
            return gr__text_fail(t, w, "%s does not take \"%s\"; it is written %s", kind, w->text, form);
        if (l->given & bit)
            return gr__text_fail(t, w, "\"%s\" is one word of its sort too many; %s is written %s", w->text, kind,
                                 form);
        if (l->given & ACTIVATION && bit != NAMED)
            return gr__text_fail(t, w, "\"%s\" stands behind %s, which is a layer of its own; put it before that",
                                 w->text, l->activation->text);
        l->given |= bit;
        if (!take_value(t, w, bit, list, l))
            return false;
    }
    if ((l->given & SAME) && (l->given & PAD))
        return gr__text_fail(t, NULL, "\"same\" and \"pad\" exclude each other; give one of them");
    if (l->pad > 0 && (l->pad >= l->window[0] || l->pad >= l->window[1]))
        return gr__text_fail(t, NULL, "the padding is %d, the window %dx%d; it must be smaller than the window", l->pad,
                             l->window[0], l->window[1]);
    return true;
}

/* --- the kinds of layers ------------------------------------------------------------------------------------------ */

static bool no_sizes(gr_text *t, layer_words *l)
{
    (void)t, (void)l;
    return true;
}

static bool conv_sizes(gr_text *t, layer_words *l)
{
    return gr__text_count(t, "the number of filters", 1, MOST_UNITS, &l->units) && gr__text_window(t, l->window);
}

static gr_padding padding_of(const layer_words *l)
{
    return l->given & SAME ? GR_SAME : l->given & PAD ? GR_EXPLICIT : GR_VALID;
}

static gr_module *make_conv(gr_text *t, const layer_words *l)
{
    return gr_conv2d_layer(t->ctx, &(gr_conv2d_options){.filters = l->units,
                                                        .kernel_size = {l->window[0], l->window[1]},
                                                        .stride = l->stride,
                                                        .padding = padding_of(l),
                                                        .pad = {l->pad, l->pad, l->pad, l->pad},
                                                        .no_bias = l->given & NO_BIAS,
                                                        .init = l->init});
}

static bool pool_sizes(gr_text *t, layer_words *l)
{
    const gr_word *w = &t->line.words[t->line.at];
    return gr__text_window(t, l->window) &&
           (l->window[0] * l->window[1] <= GR__MOST_WINDOW ||
            gr__text_fail(t, w, "a pooling window of %dx%d; it may have at most %d elements", l->window[0],
                          l->window[1], GR__MOST_WINDOW));
}

static gr_module *make_pool(gr_text *t, const layer_words *l)
{
    const gr_window window = {
        .stride = {l->stride, l->stride}, .padding = padding_of(l), .pad = {l->pad, l->pad, l->pad, l->pad}};
    return gr_max_pool2d_window_layer(t->ctx,
                                      &(gr_max_pool2d_args){.size = {l->window[0], l->window[1]}, .window = window});
}

static bool dense_sizes(gr_text *t, layer_words *l)
{
    if (!gr__text_is_next(t, "classes"))
        return gr__text_count(t, "the number of units (or the word classes)", 1, MOST_UNITS, &l->units);
    l->units = t->classes;
    return gr__text_word(t);
}

static gr_module *make_dense(gr_text *t, const layer_words *l)
{
    return gr_dense_layer(
        t->ctx, &(gr_dense_options){.units = l->units, .no_bias = l->given & NO_BIAS, .init = l->init, .l2 = l->l2});
}

/* The library's options mean the usual value by 0. */
static gr_module *make_batch_norm(gr_text *t, const layer_words *l)
{
    if (l->given & EPSILON && l->epsilon <= 0) {
        gr__text_fail(t, NULL, "epsilon is 0; it must be larger, such as 1e-5");
        return NULL;
    }
    const double momentum = l->given & MOMENTUM && l->momentum <= 0 ? GR_ZERO : l->momentum;
    return gr_batch_norm_layer(t->ctx, &(gr_batch_norm_options){.epsilon = l->epsilon, .momentum = momentum});
}

static bool dropout_sizes(gr_text *t, layer_words *l)
{
    const gr_word *w = t->line.at < t->line.n ? &t->line.words[t->line.at] : NULL;
    return gr__text_real(t, "the share that dropout drops", 1, &l->rate) &&
           (l->rate < 1 || gr__text_fail(t, w, "dropout 1 drops everything; give a share below 1, such as 0.5"));
}

static gr_module *make_dropout(gr_text *t, const layer_words *l)
{
    return gr_dropout_layer(t->ctx, l->rate);
}

static bool scale_sizes(gr_text *t, layer_words *l)
{
    const gr_word *w = t->line.at < t->line.n ? &t->line.words[t->line.at] : NULL;
    return gr__text_real(t, "the factor", 1e6, &l->rate) &&
           (l->rate > 0 || gr__text_fail(t, w, "scale 0 gives nothing but zeros; give a factor above 0, such as 0.5"));
}

static gr_module *make_scale(gr_text *t, const layer_words *l)
{
    return gr_scale_layer(t->ctx, l->rate);
}

static gr_module *make_flatten(gr_text *t, const layer_words *l)
{
    (void)l;
    return gr_flatten_layer(t->ctx);
}

static gr_module *make_global_avg_pool(gr_text *t, const layer_words *l)
{
    (void)l;
    return gr_global_avg_pool_layer(t->ctx);
}

static const struct {
    const char *name, *form; /* how a line is written, for messages */
    bool (*sizes)(gr_text *t, layer_words *l);
    unsigned words;
    gr_module *(*make)(gr_text *t, const layer_words *l);
} kinds[] = {
    {"conv", "conv FILTERS SIZE [stride N] [same | pad N] [no_bias] [INIT] [ACTIVATION] [named NAME]", conv_sizes,
     STRIDE | PAD | SAME | NO_BIAS | INIT | ACTIVATION | NAMED, make_conv},
    {"pool", "pool SIZE [stride N] [same | pad N]", pool_sizes, STRIDE | PAD | SAME, make_pool},
    {"global_avg_pool", "global_avg_pool", no_sizes, 0, make_global_avg_pool},
    {"flatten", "flatten", no_sizes, 0, make_flatten},
    {"dense", "dense UNITS|classes [no_bias] [INIT] [l2 X] [ACTIVATION] [named NAME]", dense_sizes,
     NO_BIAS | INIT | L2 | ACTIVATION | NAMED, make_dense},
    {"batch_norm", "batch_norm [epsilon X] [momentum X] [ACTIVATION] [named NAME]", no_sizes,
     EPSILON | MOMENTUM | ACTIVATION | NAMED, make_batch_norm},
    {"dropout", "dropout SHARE", dropout_sizes, 0, make_dropout},
    {"scale", "scale FACTOR", scale_sizes, 0, make_scale},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* --- lines -------------------------------------------------------------------------------------------------------- */

static bool unknown(gr_text *t, const gr_word *word)
{
    char known[256] = "";
    for (int i = 0; i < KINDS + ACTIVATIONS; i++) {
        const size_t at = strlen(known);
        snprintf(known + at, sizeof known - at, "%s, ", i < KINDS ? kinds[i].name : activations[i - KINDS].name);
    }
    return gr__text_fail(t, word, "there is no layer \"%s\"; there are %sresidual { and group NAME {", word->text,
                         known);
}

static bool add_activation(gr_text *t, gr_layers *list, const gr_word *word)
{
    return gr__text_add(t, list, activations[find_activation(word->text)].make(t->ctx), word);
}

bool gr__text_layers(gr_text *t, const gr_word *word, gr_layers *list)
{
    if (find_activation(word->text) < ACTIVATIONS)
        return gr__text_end(t, word->text) && add_activation(t, list, word);
    int i = 0;
    while (i < KINDS && strcmp(kinds[i].name, word->text) != 0)
        i++;
    if (i == KINDS)
        return unknown(t, word);
    layer_words l = {0};
    if (!kinds[i].sizes(t, &l) || !take_words(t, kinds[i].name, kinds[i].words, kinds[i].form, list, &l))
        return false;
    gr_module *layer = kinds[i].make(t, &l);
    if (layer && l.name)
        gr_named(layer, l.name->text);
    return gr__text_add(t, list, layer, word) && (!l.activation || add_activation(t, list, l.activation));
}
