/* source.c - see source.h. */
#include "source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

const char *source_root(const settings *s)
{
    const char *root = getenv("GRADUS_DATA");
    return s->data ? s->data : root && *root ? root : "datasets";
}

static bool has_folder(const char *root, const char *name)
{
    char path[PATH_SIZE];
    return snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path && is_folder(path);
}

static bool is_archive(const char *path)
{
    size_t length = strlen(path);
    return length > 7 && strcmp(path + length - 7, ".tar.gz") == 0 && is_readable_file(path);
}

bool source_find(const recipe *r, const char *root, char *path, size_t size)
{
    if (r->format == RECIPE_IMAGE_FOLDER) {
        bool below = has_folder(root, r->data);
        snprintf(path, size, "%s%s%s", root, below ? "/" : "", below ? r->data : "");
        return below || (has_folder(root, "Cat") && has_folder(root, "Dog"));
    }
    snprintf(path, size, "%s/cifar-10-batches-bin", root);
    if (is_folder(path))
        return true;
    snprintf(path, size, "%s/cifar-10-binary.tar.gz", root);
    if (is_readable_file(path))
        return true;
    snprintf(path, size, "%s/data_batch_1.bin", root);
    bool here = is_readable_file(path) || is_archive(root);
    snprintf(path, size, "%s", root);
    return here;
}

static int not_found(const recipe *r, const settings *s, const char *root, const char *command)
{
    const char *what = r->format == RECIPE_IMAGE_FOLDER ? "PetImages, or the folders Cat and Dog,"
                                                        : "cifar-10-batches-bin or cifar-10-binary.tar.gz";
    return complain(GR_BAD_DATA, command,
                    "%s%s: %s; looked for %s there. 'scripts/get_data.sh %s' fetches the data; --data names another "
                    "folder; --procedural does without",
                    s->data ? "--data " : "", root,
                    is_folder(root) || is_readable_file(root) ? "no such data" : "no such folder", what, r->download);
}

static void tell_skipped(void *user, const char *file, const char *reason)
{
    (void)user;
    if (file)
        fprintf(stderr, "left out %s: %s\n", file, reason);
}

/* Hash over the hashes of all parts: FNV-1a, 64 bits. */
static void hash_parts(source *data)
{
    gr_dataset *parts[] = {data->split.train, data->split.val, data->split.test};
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < 3; i++) {
        char text[17] = "-";
        if (parts[i])
            gr_dataset_hash(parts[i], text);
        for (const char *c = text; *c; c++)
            hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    }
    snprintf(data->hash, sizeof data->hash, "%016llx", (unsigned long long)hash);
}

static int64_t per_class(const recipe_split *split)
{
    return split->train + split->val + split->test;
}

static gr_split split_of(gr_dataset *set, const recipe_split *split)
{
    return gr_split_per_class(set, split->train, split->val, split->test);
}

int source_open(gr_context *ctx, const recipe *r, const settings *s, const char *command, source *data)
{
    char path[PATH_SIZE];
    *data = (source){.name = s->procedural ? "procedural" : r->data};
    if (s->procedural) {
        gr_dataset *set =
            gr_procedural(ctx, 2 * per_class(&r->procedural), r->height, r->width, (uint64_t)s->split_seed);
        data->split = split_of(set, &r->procedural);
    } else if (!source_find(r, source_root(s), path, sizeof path)) {
        return not_found(r, s, source_root(s), command);
    } else if (r->format == RECIPE_CIFAR10) {
        data->split = gr_cifar10(ctx, path);
    } else {
        gr_image_options images = {.height = r->height,
                                   .width = r->width,
                                   .per_class = (int)per_class(&r->split),
                                   .split_seed = (uint64_t)s->split_seed,
                                   .skipped = tell_skipped};
        data->split = split_of(gr_image_folder(ctx, path, &images), &r->split);
    }
    if (!gr_ok(ctx))
        return complain_of(ctx, command);
    hash_parts(data);
    return 0;
}

int source_check_batch(const source *data, int64_t batch, const char *last_batch, const char *command)
{
    int64_t n = gr_dataset_size(data->split.train);
    if (batch <= n || last_batch_of(last_batch) == GR_PAD)
        return 0;
    return complain(GR_USAGE, command, "--batch %lld: the training set has only %lld samples", (long long)batch,
                    (long long)n);
}
