/* checkpoint.c - see checkpoint.h. */
#include "optim/training/checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amp/scaler.h"
#include "nn/weights.h"
#include "optim/ema.h"

enum {
    COUNTS = 3,
    NUMBERS = 2,
    OWN_SETTINGS = 6,
    LONGEST_SETTING = 256,
    OWN_SLABS = GR__MAX_MOMENTS + 2 * GR__AVERAGES
};

/* Keys of the manifest: a program may call a setting of its own what another is called here. */
static const char own_prefix[] = "made with ", setting_prefix[] = "setting ", note_key[] = "note";

/* --- settings ----------------------------------------------------------------------------------------------------- */

/* What decides the bits of a run whatever its program says of it. */
typedef struct {
    gr_setting list[OWN_SETTINGS];
    char seed[24];
} own_settings;

static void fill_own(const gr_context *ctx, own_settings *own)
{
    snprintf(own->seed, sizeof own->seed, "%" PRIu64, gr_seed(ctx));
    const gr_setting list[OWN_SETTINGS] = {{"format", "gradus checkpoint 1"},     {"version", gr_version()},
                                           {"device", gr_device_name(ctx)},       {"instruction set", gr_isa_name(ctx)},
                                           {"precision", gr_precision_name(ctx)}, {"seed", own->seed}};
    memcpy(own->list, list, sizeof list);
}

static bool key_of(const char *prefix, const gr_setting *s, char key[LONGEST_SETTING])
{
    return snprintf(key, LONGEST_SETTING, "%s%s", prefix, s->key) < LONGEST_SETTING;
}

static bool check_settings(gr_context *ctx, const char *path, const gr_safetensors *file, const char *prefix,
                           const gr_setting *settings, int n)
{
    char key[LONGEST_SETTING];
    for (int i = 0; i < n; i++) {
        const char *was = key_of(prefix, &settings[i], key) ? gr__safetensors_text(file, key) : NULL;
        if (!was || strcmp(was, settings[i].value) != 0)
            return gr__fail(ctx, GR_USAGE,
                            "%s: a checkpoint of another run: %s was %s, now it is %s. Repeat the earlier run to go on "
                            "with it, or choose another folder",
                            path, settings[i].key, was ? was : "not told", settings[i].value);
    }
    return true;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* The lines of the manifest: settings and the note. False: recorded. */
static bool fill_texts(gr_context *ctx, const char *prefix, const gr_setting *settings, int n, gr_saved_text *texts,
                       char (*keys)[LONGEST_SETTING])
{
    for (int i = 0; i < n; i++) {
        if (!key_of(prefix, &settings[i], keys[i]))
            return gr__fail(ctx, GR_USAGE, "a setting's name is too long for a checkpoint: %.64s...", settings[i].key);
        texts[i] = (gr_saved_text){keys[i], settings[i].value};
    }
    return true;
}

static gr_saved_tensor vector(const char *name, gr_type type, int64_t count, const void *data)
{
    gr_saved_tensor t = {.type = type, .ndim = 1, .shape = {count}, .data = data};
    snprintf(t.name, sizeof t.name, "%s%.24s", GR__BESIDE_WEIGHTS, name);
    return t;
}

/* Numbers that lie on the host, or are brought to it. */
typedef struct {
    int64_t counts[COUNTS];
    double numbers[NUMBERS];
    float scaler[GR_SCALER_VALUES];
} small_state;

static bool look_up(gr_optimizer *opt, small_state *s)
{
    gr_context *ctx = opt->ctx;
    if (!gr__scaler_take_turn(ctx, &opt->skips) || (ctx->scaler && !gr_download(ctx->scaler, s->scaler)))
        return false;
    const int64_t counts[COUNTS] = {opt->updates, ctx->state.draws, opt->net->parameters->statistics->updates};
    memcpy(s->counts, counts, sizeof counts);
    s->numbers[0] = opt->lr;
    s->numbers[1] = ctx->other_skips;
    return true;
}

/* A slab of the optimizer's own. */
typedef struct {
    char name[24];
    gr_tensor *slab; /* NULL before the first update */
    int64_t count;
} own_slab;

/* Appends averages of the weights, where they are kept. */
static void list_averages(const gr_optimizer *opt, const char *name, gr_tensor *const averages[GR__AVERAGES],
                          own_slab *list, int *n)
{
    for (int i = 0; i < GR__AVERAGES; i++) {
        const gr_tensor *source = gr__averaged_slab(opt, i);
        if (!source)
            continue;
        list[*n] = (own_slab){.slab = averages[i], .count = source->count};
        snprintf(list[(*n)++].name, sizeof list->name, "%s%d", name, i);
    }
}

/* Moments and averages; returns how many. */
static int list_slabs(const gr_optimizer *opt, own_slab list[OWN_SLABS])
{
    int n = 0;
    for (int i = 0; i < opt->class->moments; i++, n++) {
        list[n] = (own_slab){.slab = opt->moments[i], .count = opt->net->parameters->slab->state_count};
        snprintf(list[n].name, sizeof list[n].name, "moment%d", i);
    }
    if (opt->ema > 0)
        list_averages(opt, "ema", opt->average, list, &n);
    if (opt->lookahead.every > 0)
        list_averages(opt, "slow", opt->slow, list, &n);
    return n;
}

/* Appends them, brought to the host; their data are for the caller to free. False: recorded. */
static bool store_slabs(gr_optimizer *opt, gr_saved_tensor *saved, int *n)
{
    own_slab list[OWN_SLABS];
    const int slabs = list_slabs(opt, list);
    const gr_type type = gr_real(opt->ctx);
    for (int i = 0; i < slabs; i++) {
        void *host = gr__calloc(opt->ctx, (size_t)list[i].count, gr_type_size(type)); /* zeros before an update */
        if (!host)
            return false;
        saved[(*n)++] = vector(list[i].name, type, list[i].count, host);
        if (list[i].slab && !gr_download(list[i].slab, host))
            return false;
    }
    return true;
}

static bool write_tensors(gr_optimizer *opt, const char *path, const gr_checkpoint *c, int n_texts,
                          const gr_saved_text *texts)
{
    gr_context *ctx = opt->ctx;
    small_state small;
    const int weights = gr__weights_count(opt->net);
    int owned = weights, n;
    gr_saved_tensor *saved = gr__calloc(ctx, (size_t)(weights + OWN_SLABS + 3 + c->n_more), sizeof *saved);
    bool good =
        saved && look_up(opt, &small) && gr__weights_store(opt->net, true, saved) && store_slabs(opt, saved, &owned);
    if (good) {
        n = owned;
        saved[n++] = vector("counts", GR_I64, COUNTS, small.counts);
        saved[n++] = vector("numbers", GR_F64, NUMBERS, small.numbers);
        if (ctx->scaler)
            saved[n++] = vector("scaler", GR_F32, GR_SCALER_VALUES, small.scaler);
        for (int i = 0; i < c->n_more; i++)
            saved[n++] = c->more[i];
        good = gr__safetensors_write_checked(ctx, path, n, saved, n_texts, texts);
    }
    for (int i = 0; saved && i < owned; i++)
        free((void *)saved[i].data);
    free(saved);
    return good;
}

bool gr__checkpoint_write(gr_optimizer *opt, const char *path, const gr_checkpoint *c)
{
    gr_context *ctx = opt->ctx;
    const int n = OWN_SETTINGS + c->n_settings;
    own_settings own;
    fill_own(ctx, &own);
    gr_saved_text *texts = gr__calloc(ctx, (size_t)n + 1, sizeof *texts);
    char(*keys)[LONGEST_SETTING] = gr__calloc(ctx, (size_t)n, sizeof *keys);
    bool good = texts && keys && fill_texts(ctx, own_prefix, own.list, OWN_SETTINGS, texts, keys) &&
                fill_texts(ctx, setting_prefix, c->settings, c->n_settings, texts + OWN_SETTINGS, keys + OWN_SETTINGS);
    if (good) {
        texts[n] = (gr_saved_text){note_key, c->note ? c->note : ""};
        good = write_tensors(opt, path, c, n + 1, texts);
    }
    free(keys);
    free(texts);
    return good;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

/* A tensor of the file with that many elements in a row. NULL: it has none such. */
static const gr_saved_tensor *find(const gr_safetensors *file, const char *name, gr_type type, int64_t count)
{
    const gr_saved_tensor wanted = vector(name, type, count, NULL);
    const gr_saved_tensor *t = gr__safetensors_find(file, wanted.name);
    return t && t->type == type && t->ndim == 1 && t->shape[0] == count ? t : NULL;
}

bool gr__checkpoint_copy(gr_context *ctx, const gr_safetensors *file, const char *name, gr_type type, int64_t count,
                         void *to)
{
    const gr_saved_tensor *t = gr_ok(ctx) ? find(file, name, type, count) : NULL;
    if (t)
        memcpy(to, t->data, (size_t)count * gr_type_size(type));
    return t;
}

static bool check_tensors(gr_optimizer *opt, const char *path, const gr_safetensors *file)
{
    own_slab list[OWN_SLABS];
    const int slabs = list_slabs(opt, list);
    bool whole = find(file, "counts", GR_I64, COUNTS) && find(file, "numbers", GR_F64, NUMBERS);
    whole = whole && (!opt->ctx->scaler || find(file, "scaler", GR_F32, GR_SCALER_VALUES));
    for (int i = 0; i < slabs; i++)
        whole = whole && find(file, list[i].name, gr_real(opt->ctx), list[i].count);
    return whole ||
           gr__fail(opt->ctx, GR_USAGE,
                    "%s: a checkpoint of another run: it was made with another kind of optimizer, or with other "
                    "parameters frozen. Repeat the earlier run to go on with it, or choose another folder",
                    path);
}

bool gr__checkpoint_read(gr_optimizer *opt, const char *path, const gr_checkpoint *c, gr_safetensors *file)
{
    gr_context *ctx = opt->ctx;
    own_settings own;
    fill_own(ctx, &own);
    if (!gr__safetensors_read(ctx, path, file))
        return false;
    bool good =
        file->checked || gr__fail(ctx, GR_BAD_DATA, "%s: no checkpoint, or a damaged one: it has no checksum", path);
    good = good && check_settings(ctx, path, file, own_prefix, own.list, OWN_SETTINGS) &&
           check_settings(ctx, path, file, setting_prefix, c->settings, c->n_settings) &&
           gr__weights_check(opt->net, path, file) && check_tensors(opt, path, file);
    if (!good)
        gr__safetensors_free(file);
    return good;
}

static bool restore_slabs(gr_optimizer *opt, const gr_safetensors *file)
{
    own_slab list[OWN_SLABS];
    const int slabs = list_slabs(opt, list);
    bool good = true;
    for (int i = 0; good && i < slabs; i++)
        good = !list[i].slab->data ||
               gr_upload(list[i].slab, find(file, list[i].name, gr_real(opt->ctx), list[i].count)->data);
    return good;
}

bool gr__checkpoint_restore(gr_optimizer *opt, const gr_safetensors *file)
{
    gr_context *ctx = opt->ctx;
    small_state s;
    if (!gr__optimizer_prepare(opt) || !gr__scaler_take_turn(ctx, &opt->skips) || !gr__weights_load(opt->net, file) ||
        !restore_slabs(opt, file))
        return false;
    gr__checkpoint_copy(ctx, file, "counts", GR_I64, COUNTS, s.counts);
    gr__checkpoint_copy(ctx, file, "numbers", GR_F64, NUMBERS, s.numbers);
    opt->updates = s.counts[0];
    ctx->state.draws = s.counts[1];
    opt->net->parameters->statistics->updates = s.counts[2];
    opt->lr = s.numbers[0];
    ctx->other_skips = s.numbers[1];
    if (ctx->scaler) {
        gr__checkpoint_copy(ctx, file, "scaler", GR_F32, GR_SCALER_VALUES, s.scaler);
        if (ctx->scaler->data && !gr_upload(ctx->scaler, s.scaler))
            return false;
    }
    return gr__state_write(ctx);
}

const char *gr__checkpoint_note(gr_context *ctx, const gr_safetensors *file)
{
    const char *text = gr__safetensors_text(file, note_key);
    return gr__keep_text(ctx, text ? text : "");
}

/* --- for programs that train by themselves ------------------------------------------------------------------------ */

static bool is_ready(const gr_optimizer *opt, const char *path, const char *what)
{
    if (!opt || !gr__weights_ready(opt->net, path, what) || !gr__ema_check(opt, what))
        return false;
    if (opt->pass > 0)
        return gr__fail(opt->ctx, GR_USAGE, "%s: in the middle of an update; finish its passes first", what);
    return !gr__slab_has_gradients(opt->net->parameters->slab) ||
           gr__fail(opt->ctx, GR_USAGE,
                    "%s: in the middle of an update: gradients wait for their step, and a checkpoint has none; call "
                    "gr_optimizer_step or gr_clear_gradients first",
                    what);
}

bool gr_checkpoint_save(gr_optimizer *opt, const char *path, const char *note)
{
    return is_ready(opt, path, "gr_checkpoint_save") && gr__checkpoint_write(opt, path, &(gr_checkpoint){.note = note});
}

bool gr_checkpoint_load(gr_optimizer *opt, const char *path, const char **note)
{
    gr_safetensors file;
    if (!is_ready(opt, path, "gr_checkpoint_load") || !gr__checkpoint_read(opt, path, &(gr_checkpoint){0}, &file))
        return false;
    const bool good =
        gr__checkpoint_restore(opt, &file) && (!note || (*note = gr__checkpoint_note(opt->ctx, &file)) != NULL);
    gr__safetensors_free(&file);
    return good;
}
