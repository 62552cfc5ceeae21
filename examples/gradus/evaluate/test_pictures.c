/* test_pictures.c - see test_pictures.h. */
#include "evaluate/test_pictures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources/format.h"
#include "sources/own_folder.h"
#include "terminal/complain.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

/* --- files -------------------------------------------------------------------------------------------------------- */

/* A line of the manifest, "CLASS/NAME BYTES CRC-32". */
static void on_taken(void *user, const char *line)
{
    test_pictures *t = user;
    const char *end = strrchr(line, ' ');
    while (end && end > line && *--end != ' ')
        ;
    char *name = end ? strndup(line, (size_t)(end - line)) : NULL;
    if (t->n_names == t->room) {
        const int64_t room = t->room ? 2 * t->room : 256;
        char **grown = realloc(t->names, (size_t)room * sizeof *grown);
        t->names = grown ? grown : t->names;
        t->room = grown ? room : t->room;
    }
    t->lost |= !name || t->n_names == t->room;
    if (t->lost) {
        free(name);
        return;
    }
    t->names[t->n_names++] = name;
    file_sums_taken(&t->sums, line);
}

static void on_skipped(void *user, const char *file, const char *reason)
{
    complain(GR_BAD_DATA, ((const test_pictures *)user)->command, "left out %s: %s", file, reason);
}

static void on_turned(void *user, const char *file)
{
    turned_note(&((test_pictures *)user)->turned, file);
}

/* Decoded when they are wanted: there may be many more than a recipe trains on. */
static gr_dataset *read_folder(gr_context *ctx, const resolved *s, const char *path, test_pictures *t)
{
    int64_t shape[3];
    source_shape(s, shape);
    gr_dataset *set = gr_image_folder(ctx, path,
                                      &(gr_image_options){.height = (int)shape[0],
                                                          .width = (int)shape[1],
                                                          .allow_bad = 1,
                                                          .decode_late = true,
                                                          .skipped = on_skipped,
                                                          .taken = on_taken,
                                                          .turned = on_turned,
                                                          .user = t});
    turned_tell(&t->turned, stderr);
    return set;
}

/* Those that the network has not seen. NULL: the context tells, or *code, complained of. */
static gr_dataset *unseen(gr_dataset *set, const weights_notes *notes, const char *command, test_pictures *t, int *code)
{
    file_sums seen = file_sums_read(notes->seen);
    int64_t n = 0, *picks = malloc((size_t)(t->found + 1) * sizeof *picks);
    t->known = seen.n > 0 && t->sums.n == t->found && !seen.lost;
    for (int64_t i = 0; picks && i < t->found; i++)
        if (!t->known || !file_sums_has(&seen, t->sums.list[gr_dataset_row(set, i)]))
            picks[n++] = i;
    t->left_out = t->found - n;
    gr_dataset *rest = NULL;
    if (!picks || t->lost || t->sums.lost || seen.lost)
        *code =
            complain(GR_NO_MEMORY, command, "out of host memory for the list of %lld pictures", (long long)t->found);
    else if (n == 0)
        *code = complain(GR_BAD_DATA, command,
                         "%s: the network was trained on all of its %lld pictures, or chosen by them; they are no "
                         "test of it - give others",
                         t->data, (long long)t->found);
    else
        rest = gr_dataset_select(set, n, picks);
    free(picks);
    file_sums_free(&seen);
    return rest;
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

static int class_named(const weights_notes *notes, const char *name)
{
    json_t *plain = json_plain(name); /* as the notes have it */
    int found = (int)json_array_size(notes->classes) - 1;
    while (found >= 0 && !json_equal(json_array_get(notes->classes, (size_t)found), plain))
        found--;
    json_decref(plain);
    return found;
}

/* By their names: a test folder need not have all of them. */
static int match_classes(const gr_dataset *set, const weights_notes *notes, const char *path, const char *command,
                         test_pictures *t)
{
    const int n = gr_dataset_classes(set);
    if (!notes->classes)
        return 0;
    t->classes = calloc((size_t)n, sizeof *t->classes);
    if (!t->classes)
        return complain(GR_NO_MEMORY, command, "out of host memory for %d classes", n);
    for (int i = 0; i < n; i++) {
        t->classes[i] = class_named(notes, gr_dataset_class_name(set, i));
        if (t->classes[i] < 0)
            return complain(GR_BAD_DATA, command,
                            "%s: the network has no class %s; it knows %s and %d more; remove or rename the folder",
                            path, gr_dataset_class_name(set, i), json_string_value(json_array_get(notes->classes, 0)),
                            (int)json_array_size(notes->classes) - 1);
    }
    return 0;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* A folder "valid" may be a part, or a class beside "invalid", which the network knows. */
static bool find_part(const char *root, const char *name, const weights_notes *notes, char part[PATH_SIZE])
{
    return own_folder_part(root, name, part, PATH_SIZE) && class_named(notes, strrchr(part, '/') + 1) < 0;
}

/* A folder or an archive of pictures. */
static int open_files(gr_context *ctx, const resolved *s, const weights_notes *notes, const char *command,
                      test_pictures *t)
{
    const format *f = s->recipe->format;
    char path[PATH_SIZE], part[PATH_SIZE];
    const char *root = source_root(s->asked.data);
    if (!f->find(s->recipe, root, path, sizeof path))
        return complain(GR_BAD_DATA, command, "%s: looked for %s there; --data names another folder", root, f->wanted);
    if (f->own && (find_part(path, "test", notes, part) || find_part(path, "val", notes, part)))
        memcpy(path, part, sizeof path);
    gr_dataset *set = ends_in(path, ".grd") ? gr_packed(ctx, path, NULL) : read_folder(ctx, s, path, t);
    if (!set)
        return complain_of(ctx, command);
    if (s->recipe->normalise.std[0] > 0)
        gr_dataset_normalise(set, &s->recipe->normalise);
    t->data = root;
    t->found = gr_dataset_size(set);
    int code = match_classes(set, notes, path, command, t);
    t->plain = code == 0 ? unseen(set, notes, command, t, &code) : NULL;
    return code;
}

/* The test part of any other set, as the recipe splits it. */
static int open_part(gr_context *ctx, const resolved *s, const char *command, test_pictures *t)
{
    source data;
    resolved plain = *s;
    plain.augment = "none";
    const int code = source_open(ctx, &plain, command, &data);
    if (code)
        return code;
    t->plain = data.split.test ? data.split.test : data.split.val;
    t->data = data.name;
    t->found = gr_dataset_size(t->plain);
    t->known = true;
    return 0;
}

int test_pictures_open(gr_context *ctx, const resolved *s, const weights_notes *notes, const char *command,
                       test_pictures *t)
{
    *t = (test_pictures){.command = command};
    const bool files = s->recipe->format->files && !s->asked.procedural;
    const int code = files ? open_files(ctx, s, notes, command, t) : open_part(ctx, s, command, t);
    if (code == 0)
        t->set = gr_augmented_for_evaluation(t->plain, s->augment);
    return code || gr_ok(ctx) ? code : complain_of(ctx, command);
}

void test_pictures_close(test_pictures *t)
{
    for (int64_t i = 0; i < t->n_names; i++)
        free(t->names[i]);
    free(t->names);
    free(t->classes);
    file_sums_free(&t->sums);
}

int test_pictures_label(const test_pictures *t, int64_t i)
{
    const int label = gr_dataset_label(t->set, i);
    return t->classes ? t->classes[label] : label;
}

const char *test_pictures_name(const test_pictures *t, int64_t i, char text[32])
{
    const int64_t row = gr_dataset_row(t->set, i);
    snprintf(text, 32, "sample %lld", (long long)i);
    return t->n_names > row ? t->names[row] : text;
}
