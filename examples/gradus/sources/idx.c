/* idx.c - MNIST's files, and those of sets that come in the same form. */
#include <stdio.h>

#include "sources/format.h"
#include "sources/source.h"
#include "terminal/complain.h"

/* Whether a folder holds the files, or has a folder raw that should. */
static bool has_idx(const char *folder)
{
    static const char *const names[] = {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte",
                                        "train-images.idx3-ubyte.gz", "train-images.idx3-ubyte"};
    bool found = has_folder(folder, "raw");
    for (int i = 0; i < 4 && !found; i++)
        found = has_file(folder, names[i]);
    return found;
}

static bool find(const recipe *r, const char *root, char *path, size_t size)
{
    return find_below(r, root, path, size) || has_idx(root);
}

static void cure(const recipe *r, char *text, size_t size)
{
    snprintf(text, size,
             "put the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the same of t10k into a "
             "folder %s there",
             r->data);
}

static int open_idx(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data)
{
    (void)s;
    (void)command;
    data->split = gr_idx(ctx, path);
    return 0;
}

/* The files may hold pictures and classes of any number. */
static int check(const resolved *s, const gr_dataset *set, const char *path, const char *command)
{
    enum { OUTPUTS = 10 };
    int64_t shape[3], wanted[3];
    source_shape(s, wanted);
    gr_dataset_shape(set, shape);
    if (shape[0] != wanted[0] || shape[1] != wanted[1])
        return complain(GR_BAD_DATA, command, "%s holds pictures of %lldx%lldx1, %s is for %dx%dx1", path,
                        (long long)shape[0], (long long)shape[1], s->recipe->name, (int)wanted[0], (int)wanted[1]);
    if (gr_dataset_classes(set) > OUTPUTS)
        return complain(GR_BAD_DATA, command, "%s has labels of %d classes, %s is for %d", path,
                        gr_dataset_classes(set), s->recipe->name, OUTPUTS);
    return 0;
}

const format idx_format = {.name = "MNIST's files",
                           .channels = 1,
                           .wanted = "the folder of the set, or its train-images-idx3-ubyte.gz,",
                           .find = find,
                           .cure = cure,
                           .open = open_idx,
                           .check = check,
                           .is = has_idx,
                           .read = gr_idx};
