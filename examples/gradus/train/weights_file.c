/* weights_file.c - see weights_file.h. */
#include "train/weights_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/values.h"
#include "train/row.h"

enum { RECIPE, MODEL, RESIZE, AUGMENT, CLASSES, OUTPUTS, SEEN, EMA, NOTES };
static const char *const keys[NOTES] = {"recipe", "model", "resize", "augment", "classes", "outputs", "seen", "ema"};

/* A class's name, or its number where it has none. */
static json_t *name_of(const gr_dataset *set, int class)
{
    const char *name = gr_dataset_class_name(set, class);
    return name ? json_plain(name) : json_sprintf("class %d", class);
}

/* Names of the classes as JSON text, to be freed. NULL: no memory. */
static char *names_of(const gr_dataset *set)
{
    json_t *names = json_array();
    bool good = names;
    for (int i = 0; good && i < gr_dataset_classes(set); i++)
        good = json_array_append_new(names, name_of(set, i)) == 0;
    char *text = good ? json_text(names, JSON_COMPACT) : NULL;
    json_decref(names);
    return text;
}

int weights_file_save(gr_context *ctx, gr_module *net, const resolved *s, const source *data, const char *command)
{
    char resize[32], outputs[32], ema[32], *classes = names_of(data->split.train), *seen = file_sums_text(&data->seen);
    snprintf(resize, sizeof resize, "%lld", (long long)s->asked.resize);
    snprintf(outputs, sizeof outputs, "%d", gr_module_outputs(net));
    snprintf(ema, sizeof ema, "%.9g", s->asked.ema.value);
    const char *const values[NOTES] = {s->recipe->name,
                                       gr_model_text(net),
                                       resize,
                                       s->augment,
                                       classes,
                                       s->asked.replace_head ? outputs : NULL,
                                       seen,
                                       s->asked.ema.value > 0 ? ema : NULL};
    gr_note notes[NOTES];
    int n = 0;
    for (int i = 0; i < NOTES; i++)
        if (values[i])
            notes[n++] = (gr_note){keys[i], values[i]};
    int code = 0;
    if (!classes || data->seen.lost || (data->seen.n > 0 && !seen))
        code = complain(GR_NO_MEMORY, command, "out of host memory for what %s tells of itself; it is not written",
                        s->asked.save_weights);
    else if (!gr_save_weights_with(net, s->asked.save_weights, n, notes))
        code = complain_of(ctx, command);
    free(classes);
    free(seen);
    return code;
}

/* The list of names in a note. NULL: it is none. */
static json_t *read_names(const char *text)
{
    json_t *names = json_loads(text, 0, NULL), *name;
    size_t i;
    bool good = json_is_array(names);
    json_array_foreach(names, i, name)
    {
        good = good && json_is_string(name);
    }
    if (good)
        return names;
    json_decref(names);
    return NULL;
}

/* Whose network it is: of the recipe in the notes, or of the one that was asked for. NULL: complained of. */
static const recipe *recipe_of(const char *path, const char *noted, const char *asked, const char *command)
{
    if (!asked && !noted)
        complain(GR_USAGE, command, "%s does not say which recipe's network its weights are of; name it with --recipe",
                 path);
    else if (asked && noted && strcmp(asked, noted) != 0)
        complain(GR_USAGE, command, "%s holds weights of %s, not of %s; name that recipe", path, noted, asked);
    else
        return recipe_find(asked ? asked : noted, command);
    return NULL;
}

/* How many classes the network tells apart. */
static int classes_of(const weights_notes *notes)
{
    const int named = (int)json_array_size(notes->classes);
    return notes->recipe->classes ? notes->recipe->classes : named > 0 ? named : (int)notes->outputs;
}

/* The network of a model file, for weights that have no notes. Returns 0 or an exit code, complained of. */
static int take_model(gr_context *ctx, const char *file, const char *command, weights_notes *notes)
{
    const gr_module *net = gr_model_from_file(ctx, file, classes_of(notes));
    notes->model = net ? gr_model_text(net) : NULL;
    return notes->model ? 0 : complain_of(ctx, command);
}

int weights_file_read(gr_context *ctx, const char *path, const weights_asked *asked, const char *command,
                      weights_notes *notes)
{
    const char *values[NOTES] = {NULL};
    *notes = (weights_notes){.path = path};
    if (!gr_read_notes(ctx, path, NOTES, keys, values))
        return complain_of(ctx, command);
    if (asked->model && values[RECIPE])
        return complain(GR_USAGE, command, "%s says itself which network its weights are of; leave out --model", path);
    notes->recipe =
        recipe_of(path, values[RECIPE], asked->model && !asked->recipe ? "own-pictures" : asked->recipe, command);
    if (!notes->recipe)
        return GR_USAGE;
    if (values[RESIZE] && !parse_count(values[RESIZE], 0, 4096, &notes->resize))
        return complain(GR_BAD_DATA, command, "%s: the note \"resize\" is \"%s\", which is no size", path,
                        values[RESIZE]);
    if (values[OUTPUTS] && !parse_count(values[OUTPUTS], 1, 1000000, &notes->outputs))
        return complain(GR_BAD_DATA, command, "%s: the note \"outputs\" is \"%s\", which is no number of them", path,
                        values[OUTPUTS]);
    notes->resize = notes->resize ? notes->resize : asked->resize;
    notes->outputs = notes->outputs ? notes->outputs : asked->outputs;
    notes->augment = values[AUGMENT];
    notes->model = values[MODEL];
    notes->seen = values[SEEN];
    notes->ema = values[EMA];
    notes->classes = values[CLASSES] ? read_names(values[CLASSES]) : NULL;
    if (values[CLASSES] && !notes->classes)
        return complain(GR_BAD_DATA, command, "%s: the note \"classes\" is no list of names", path);
    if (classes_of(notes) == 0 && asked->model)
        return complain(GR_USAGE, command, "--model wants --outputs N too: how many classes the network tells apart");
    if (classes_of(notes) == 0)
        return complain(GR_BAD_DATA, command, "%s does not tell which classes its network knows, as weights of %s do",
                        path, notes->recipe->name);
    return asked->model ? take_model(ctx, asked->model, command, notes) : 0;
}

gr_module *weights_file_net(gr_context *ctx, const weights_notes *notes)
{
    char name[4096 + 32];
    const int classes = classes_of(notes);
    snprintf(name, sizeof name, "%s, its model", notes->path);
    gr_module *net =
        notes->model ? gr_model_from_text(ctx, name, notes->model, classes) : notes->recipe->net(ctx, classes);
    if (notes->outputs > 0)
        gr_module_set_outputs(net, (int)notes->outputs);
    return net;
}

gr_module *weights_file_loaded(gr_context *ctx, const weights_notes *notes, const gr_dataset *set)
{
    int64_t shape[3];
    gr_dataset_shape(set, shape);
    gr_module *net = weights_file_net(ctx, notes);
    return gr_module_build(net, 3, shape) && gr_load_weights(net, notes->path) ? net : NULL;
}

const char *weights_file_class(const weights_notes *notes, int class, char text[32])
{
    const char *name = json_string_value(json_array_get(notes->classes, (size_t) class));
    snprintf(text, 32, "class %d", class);
    return name ? name : text;
}

void weights_file_close(weights_notes *notes)
{
    json_decref(notes->classes);
    notes->classes = NULL;
}

bool weights_file_rewrite(gr_module *net, const char *path, const weights_notes *notes)
{
    char resize[32], outputs[32], *classes = notes->classes ? json_text(notes->classes, JSON_COMPACT) : NULL;
    snprintf(resize, sizeof resize, "%lld", (long long)notes->resize);
    snprintf(outputs, sizeof outputs, "%lld", (long long)notes->outputs);
    const char *const values[NOTES] = {notes->recipe->name, notes->model, resize,
                                       notes->augment,      classes,      notes->outputs ? outputs : NULL,
                                       notes->seen,         notes->ema};
    gr_note kept[NOTES];
    int n = 0;
    for (int i = 0; i < NOTES; i++)
        if (values[i])
            kept[n++] = (gr_note){keys[i], values[i]};
    const bool good = gr_save_weights_with(net, path, n, kept);
    free(classes);
    return good;
}
