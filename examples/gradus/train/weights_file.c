/* weights_file.c - see weights_file.h. */
#include "train/weights_file.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/values.h"
#include "train/row.h"

enum { RECIPE, RESIZE, AUGMENT, CLASSES, NOTES };
static const char *const keys[NOTES] = {"recipe", "resize", "augment", "classes"};

/* Names of the classes as JSON text, to be freed. NULL: no memory. */
static char *names_of(const gr_dataset *set)
{
    json_t *names = json_array();
    bool good = names;
    for (int i = 0; good && i < gr_dataset_classes(set); i++)
        good = json_array_append_new(names, json_string(gr_dataset_class_name(set, i))) == 0;
    char *text = good ? json_dumps(names, JSON_COMPACT) : NULL;
    json_decref(names);
    return text;
}

bool weights_file_save(gr_module *net, const char *path, const resolved *s, const source *data)
{
    char resize[32], *classes = names_of(data->split.train);
    snprintf(resize, sizeof resize, "%lld", (long long)s->asked.resize);
    const char *const values[NOTES] = {s->recipe->name, resize, s->augment, classes};
    gr_note notes[NOTES];
    int n = 0;
    for (int i = 0; i < NOTES; i++)
        if (values[i]) /* names that are no UTF-8 are left out */
            notes[n++] = (gr_note){keys[i], values[i]};
    const bool good = gr_save_weights_with(net, path, n, notes);
    free(classes);
    return good;
}

const recipe *weights_file_read(gr_context *ctx, const char *path, const char *recipe_asked, settings *asked,
                                json_t **classes, const char *command, int *code)
{
    const char *values[NOTES] = {NULL};
    *classes = NULL;
    if (!gr_read_notes(ctx, path, NOTES, keys, values)) {
        *code = complain_of(ctx, command);
        return NULL;
    }
    *code = GR_USAGE;
    if (!recipe_asked && !values[RECIPE]) {
        complain(GR_USAGE, command, "%s does not say which recipe's network its weights are of; name it with --recipe",
                 path);
        return NULL;
    }
    if (recipe_asked && values[RECIPE] && strcmp(recipe_asked, values[RECIPE]) != 0) {
        complain(GR_USAGE, command, "%s holds weights of %s, not of %s; leave out --recipe", path, values[RECIPE],
                 recipe_asked);
        return NULL;
    }
    if (values[RESIZE] && !parse_count(values[RESIZE], 0, 4096, &asked->resize)) {
        *code =
            complain(GR_BAD_DATA, command, "%s: the note \"resize\" is \"%s\", which is no size", path, values[RESIZE]);
        return NULL;
    }
    asked->augment = values[AUGMENT];
    *classes = values[CLASSES] ? json_loads(values[CLASSES], 0, NULL) : NULL;
    return recipe_find(recipe_asked ? recipe_asked : values[RECIPE], command);
}
