/* source.c - see source.h. */
#include "sources/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/format.h"
#include "sources/own_folder.h"
#include "terminal/complain.h"
#include "terminal/system.h"

const char *source_root(const char *data_option)
{
    const char *root = getenv("GRADUS_DATA");
    return data_option ? data_option : root && *root ? root : "datasets";
}

void source_close(source *data)
{
    file_sums_free(&data->seen);
}

static int not_found(const resolved *s, const char *root, const char *command)
{
    const format *f = s->recipe->format;
    char cure[512];
    f->cure(s->recipe, cure, sizeof cure);
    return complain(GR_BAD_DATA, command,
                    "%s%s: %s; looked for %s there. %s; --data names another folder; --procedural does without",
                    s->asked.data ? "--data " : "", root,
                    is_folder(root) || is_readable_file(root) ? "no such data" : "no such folder", f->wanted, cure);
}

void source_hash(const gr_split *split, char hash[17])
{
    gr_dataset *parts[] = {split->train, split->val, split->test};
    uint64_t sum = 14695981039346656037u; /* FNV-1a, 64 bits */
    for (int i = 0; i < 3; i++) {
        char text[17] = "-";
        if (parts[i])
            gr_dataset_hash(parts[i], text);
        if (!text[0]) { /* decoded late: that would be one more pass over all files */
            hash[0] = '\0';
            return;
        }
        for (const char *c = text; *c; c++)
            sum = (sum ^ (unsigned char)*c) * 1099511628211u;
    }
    snprintf(hash, 17, "%016llx", (unsigned long long)sum);
}

int64_t source_per_class(const recipe_split *split)
{
    return split->train + split->val + split->test;
}

gr_split source_split(gr_dataset *set, const recipe_split *split)
{
    return gr_split_per_class(set, split->train, split->val, split->test);
}

void source_shape(const resolved *s, int64_t shape[3])
{
    shape[0] = s->asked.resize ? s->asked.resize : s->recipe->height;
    shape[1] = s->asked.resize ? s->asked.resize : s->recipe->width;
    shape[2] = s->recipe->format->channels;
}

gr_dataset *source_built_in(gr_context *ctx, const resolved *s, int64_t n, uint64_t seed)
{
    int64_t shape[3];
    source_shape(s, shape);
    if (s->recipe->format->features)
        return gr_table_classes(ctx, n, s->recipe->width, seed);
    return (shape[2] == 1 ? gr_procedural_grey : gr_procedural)(ctx, n, (int)shape[0], (int)shape[1], seed);
}

void source_draw(gr_context *ctx, const resolved *s, source *data)
{
    const recipe_split *split = &s->recipe->procedural;
    gr_dataset *set = source_built_in(ctx, s, 2 * source_per_class(split), (uint64_t)s->asked.split_seed);
    data->split = source_split(set, split);
}

/* Size and scale of the recipe's pictures on every part. */
static void prepare_parts(const resolved *s, const gr_split *split)
{
    gr_dataset *parts[] = {split->train, split->val, split->test};
    for (int i = 0; i < 3; i++) {
        if (s->asked.resize)
            gr_dataset_resize(parts[i], (int)s->asked.resize, (int)s->asked.resize);
        if (s->recipe->normalise.std[0] > 0)
            gr_dataset_normalise(parts[i], &s->recipe->normalise);
    }
}

/* Training sees the plan; validation too where the plan doubles it, as published; else only sizes follow. */
static void augment_parts(const char *plan, gr_split *split)
{
    split->val = (gr_augmentation_doubles(plan) ? gr_augmented : gr_augmented_for_evaluation)(split->val, plan);
    split->test = gr_augmented_for_evaluation(split->test, plan);
    split->train = gr_augmented(split->train, plan);
}

gr_split source_stand_in(gr_context *ctx, const resolved *s, const int64_t samples[3])
{
    gr_dataset *parts[3] = {NULL};
    const int64_t copies = gr_augmentation_doubles(s->augment) ? 2 : 1; /* of training and of validation */
    for (int i = 0; i < 3; i++)
        if (samples[i] > 0)
            parts[i] = source_built_in(ctx, s, i < 2 ? samples[i] / copies : samples[i], 0);
    gr_split split = {parts[0], parts[1], parts[2]};
    prepare_parts(s, &split);
    augment_parts(s->augment, &split);
    return split;
}

/* Reads what the format finds, or draws what stands in for it. Returns 0 or an exit code, complained of. */
static int read_source(gr_context *ctx, const resolved *s, const char *command, bool drawn, char path[PATH_SIZE],
                       source *data)
{
    const format *f = s->recipe->format;
    if (drawn) {
        source_draw(ctx, s, data);
        return 0;
    }
    const char *root = source_root(s->asked.data);
    return f->find(s->recipe, root, path, PATH_SIZE) ? f->open(ctx, s, path, command, data)
                                                     : not_found(s, root, command);
}

int source_open(gr_context *ctx, const resolved *s, const char *command, source *data)
{
    char path[PATH_SIZE];
    const format *f = s->recipe->format;
    const bool drawn =
        s->asked.procedural && !f->features; /* rows of features are drawn either way, and not another set */
    if (resolved_preload(s) == PRELOAD_NONE && (s->asked.procedural || !f->files))
        return complain(GR_USAGE, command,
                        "--preload none is for folders and archives of pictures; this set is read as a whole");
    *data = (source){.name = drawn ? "procedural" : s->recipe->data};
    int code = read_source(ctx, s, command, drawn, path, data);
    if (code)
        return code;
    prepare_parts(s, &data->split);
    if (!gr_ok(ctx))
        return complain_of(ctx, command);
    source_hash(&data->split, data->hash);
    code = f->check && !drawn ? f->check(s, data->split.train, path, command) : 0;
    if (code)
        return code;
    data->plain_test = data->split.test;
    augment_parts(s->augment, &data->split);
    return gr_ok(ctx) ? 0 : complain_of(ctx, command);
}

/* The folder that a path lies in, in its place. False: it has come to the top, or to the working folder. */
static bool go_up(char *path)
{
    if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
        return false;
    size_t n = path_length(path);
    while (n > 0 && path[n - 1] != '/')
        n--;
    path[n] = '\0';
    n = path_length(path);
    snprintf(path + n, 2, "%s", n ? "" : ".");
    return true;
}

/* What is there of a path, without links and dots, in its place. False: the system does not tell. */
static bool make_real(char path[PATH_SIZE])
{
    char *real;
    while (!(real = realpath(path, NULL)) && go_up(path))
        continue;
    const bool good = real && snprintf(path, PATH_SIZE, "%s", real) < PATH_SIZE;
    free(real);
    return good;
}

int source_check_outside(const settings *s, const recipe *r, const char *folder, const char *named, const char *command)
{
    char set[PATH_SIZE], path[PATH_SIZE];
    if (!folder || s->procedural || !r->format->files || !r->format->find(r, source_root(s->data), set, sizeof set) ||
        !is_folder(set) || (r->format->own && own_folder_has_parts(set)) ||
        snprintf(path, sizeof path, "%s", folder) >= (int)sizeof path || !make_real(path))
        return 0;
    do {
        if (is_same_file(path, set))
            return complain(GR_USAGE, command,
                            "--%s %s lies in %s, whose folders are the classes, and would be taken for one; choose a "
                            "place outside of it",
                            named, folder, set);
    } while (go_up(path));
    return 0;
}

int source_check_batch(const source *data, int64_t batch, gr_last_batch last, const char *command)
{
    int64_t n = gr_dataset_size(data->split.train);
    if (batch <= n || last == GR_PAD)
        return 0;
    return complain(GR_USAGE, command,
                    "a batch of %lld: the training set has only %lld sample%s; ask for --batch %lld or less",
                    (long long)batch, (long long)n, n == 1 ? "" : "s", (long long)n);
}
