/* source.c - see source.h. */
#include "recipes/source.h"

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

static bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcmp(path + length - n, ending) == 0;
}

static bool is_archive(const char *path)
{
    return ends_in(path, ".tar.gz") && is_readable_file(path);
}

/* A folder of class folders, an archive of them as it was fetched, or a packed set. */
static bool find_images(const recipe *r, const char *root, char *path, size_t size)
{
    static const char archive[] = "kagglecatsanddogs_5340.zip";
    bool below = has_folder(root, r->data);
    snprintf(path, size, "%s%s%s", root, below ? "/" : "", below ? r->data : "");
    if (below || (has_folder(root, "Cat") && has_folder(root, "Dog")))
        return true;
    if (!is_folder(root))
        return is_readable_file(root);
    snprintf(path, size, "%s/%s", root, archive);
    if (is_readable_file(path))
        return true;
    snprintf(path, size, "%s", root);
    return false;
}

/* Whether a folder holds MNIST's files, or has a folder raw that should. */
static bool has_idx(const char *folder)
{
    static const char *const names[] = {"train-images-idx3-ubyte.gz", "train-images-idx3-ubyte",
                                        "train-images.idx3-ubyte.gz", "train-images.idx3-ubyte"};
    char path[PATH_SIZE];
    bool found = has_folder(folder, "raw");
    for (int i = 0; i < 4 && !found; i++)
        found = snprintf(path, sizeof path, "%s/%s", folder, names[i]) < (int)sizeof path && is_readable_file(path);
    return found;
}

bool source_find(const recipe *r, const char *root, char *path, size_t size)
{
    if (r->format == RECIPE_IMAGE_FOLDER)
        return find_images(r, root, path, size);
    if (r->format == RECIPE_TABLE) {
        snprintf(path, size, "built in");
        return true;
    }
    if (r->format == RECIPE_IDX) {
        bool below = has_folder(root, r->data);
        snprintf(path, size, "%s%s%s", root, below ? "/" : "", below ? r->data : "");
        return below || has_idx(root);
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

const char *source_cure(const recipe *r, char *text, size_t size)
{
    if (r->download)
        snprintf(text, size, "'scripts/get_data.sh %s' fetches the data", r->download);
    else
        snprintf(text, size,
                 "put the four files train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz and the same of "
                 "t10k into a folder %s there",
                 r->data);
    return text;
}

static int not_found(const recipe *r, const settings *s, const char *root, const char *command)
{
    const char *what = r->format == RECIPE_IMAGE_FOLDER
                           ? "PetImages, the folders Cat and Dog, or kagglecatsanddogs_5340.zip"
                       : r->format == RECIPE_IDX ? "the folder of the set, or its train-images-idx3-ubyte.gz,"
                                                 : "cifar-10-batches-bin or cifar-10-binary.tar.gz";
    char cure[512];
    return complain(GR_BAD_DATA, command,
                    "%s%s: %s; looked for %s there. %s; --data names another folder; --procedural does without",
                    s->data ? "--data " : "", root,
                    is_folder(root) || is_readable_file(root) ? "no such data" : "no such folder", what,
                    source_cure(r, cure, sizeof cure));
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
        if (!text[0]) { /* decoded late: that would be one more pass over all files */
            data->hash[0] = '\0';
            return;
        }
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

void source_shape(const recipe *r, const settings *s, int64_t shape[3])
{
    shape[0] = s->resize ? s->resize : r->height;
    shape[1] = s->resize ? s->resize : r->width;
    shape[2] = recipe_channels(r);
}

gr_dataset *source_built_in(gr_context *ctx, const recipe *r, const settings *s, int64_t n, uint64_t seed)
{
    int64_t shape[3];
    source_shape(r, s, shape);
    if (r->format == RECIPE_TABLE)
        return gr_table_classes(ctx, n, r->width, seed);
    return (shape[2] == 1 ? gr_procedural_grey : gr_procedural)(ctx, n, (int)shape[0], (int)shape[1], seed);
}

/* Says which files a set was made of: the hash of its manifest, which 'gradus data check' can write out. */
static void tell_manifest(const source *data, const settings *s, const gr_dataset *set, bool packed)
{
    char taken[32];
    fprintf(stderr, "%s: %s files taken", data->name, thousands_text(gr_dataset_size(set), taken));
    if (!packed)
        fprintf(stderr, ", %lld left out (filter %s)", (long long)gr_dataset_skipped(set),
                s->filter ? s->filter : gr_filter_name(GR_FILTER_DECODABLE));
    fprintf(stderr, "; manifest sha256 %s\n", gr_dataset_manifest(set));
}

/* The pictures of a packed set have the size they were packed in. Returns 0 or an exit code, complained of. */
static int check_packed(const recipe *r, const settings *s, const gr_dataset *set, const char *path,
                        const char *command)
{
    int64_t shape[3], wanted[3];
    source_shape(r, s, wanted);
    gr_dataset_shape(set, shape);
    if (s->filter)
        return complain(GR_USAGE, command, "--filter %s: %s is packed, its files were chosen then", s->filter, path);
    if (memcmp(shape, wanted, sizeof shape) != 0)
        return complain(GR_BAD_DATA, command,
                        "%s holds pictures of %lldx%lldx%lld, %s is for %lldx%lldx%lld; pack it again with --size %lld",
                        path, (long long)shape[0], (long long)shape[1], (long long)shape[2], r->name,
                        (long long)wanted[0], (long long)wanted[1], (long long)wanted[2], (long long)wanted[0]);
    return 0;
}

/*
 * Reads pictures of the recipe's size from a folder, an archive or a packed set. Returns 0 or an exit code, complained
 * of.
 */
static int open_images(gr_context *ctx, const recipe *r, const settings *s, const char *path, const char *command,
                       source *data)
{
    int64_t shape[3];
    bool packed = ends_in(path, ".grd");
    source_shape(r, s, shape);
    gr_image_options options = {.height = (int)shape[0],
                                .width = (int)shape[1],
                                .per_class = (int)per_class(&r->split),
                                .split_seed = (uint64_t)s->split_seed,
                                .skipped = tell_skipped};
    options.decode_late = preload_is(s, "none");
    options.memory = s->preload_limit;
    if (packed && options.decode_late)
        return complain(GR_USAGE, command, "--preload none: a packed set is mapped, not decoded; leave the option out");
    if (s->filter)
        gr_filter_named(s->filter, &options.filter);
    gr_dataset *set =
        packed ? gr_packed(ctx, path,
                           &(gr_packed_options){.per_class = options.per_class, .split_seed = options.split_seed})
               : gr_image_folder(ctx, path, &options);
    int code = packed && set ? check_packed(r, s, set, path, command) : 0;
    if (set && !code)
        tell_manifest(data, s, set, packed);
    if (!code)
        data->split = split_of(set, &r->split);
    return code;
}

/* Size and scale of the recipe's pictures on every part. */
static void prepare_parts(const recipe *r, const settings *s, const gr_split *split)
{
    gr_dataset *parts[] = {split->train, split->val, split->test};
    for (int i = 0; i < 3; i++) {
        if (s->resize)
            gr_dataset_resize(parts[i], (int)s->resize, (int)s->resize);
        if (r->normalise.std[0] > 0)
            gr_dataset_normalise(parts[i], &r->normalise);
    }
}

/* Training sees the plan; validation too where the plan doubles it, as published; else only sizes follow. */
static void augment_parts(const char *plan, gr_split *split)
{
    split->val = (gr_augmentation_doubles(plan) ? gr_augmented : gr_augmented_for_evaluation)(split->val, plan);
    split->test = gr_augmented_for_evaluation(split->test, plan);
    split->train = gr_augmented(split->train, plan);
}

/* idx files may hold pictures and classes of any number: that they fit the recipe's network. 0 or an exit code. */
static int check_idx(const recipe *r, const settings *s, const gr_dataset *set, const char *path, const char *command)
{
    enum { OUTPUTS = 10 };
    int64_t shape[3], wanted[3];
    source_shape(r, s, wanted);
    gr_dataset_shape(set, shape);
    if (shape[0] != wanted[0] || shape[1] != wanted[1])
        return complain(GR_BAD_DATA, command, "%s holds pictures of %lldx%lldx1, %s is for %dx%dx1", path,
                        (long long)shape[0], (long long)shape[1], r->name, (int)wanted[0], (int)wanted[1]);
    if (gr_dataset_classes(set) > OUTPUTS)
        return complain(GR_BAD_DATA, command, "%s has labels of %d classes, %s is for %d", path,
                        gr_dataset_classes(set), r->name, OUTPUTS);
    return 0;
}

int source_open(gr_context *ctx, const recipe *r, const settings *s, const char *command, source *data)
{
    char path[PATH_SIZE];
    if (preload_is(s, "none") && (s->procedural || r->format != RECIPE_IMAGE_FOLDER))
        return complain(GR_USAGE, command,
                        "--preload none is for folders and archives of pictures; this set is read as a whole");
    bool table = r->format == RECIPE_TABLE; /* is drawn by formula whether that is asked for or not */
    *data = (source){.name = s->procedural && !table ? "procedural" : r->data};
    if (s->procedural || table) {
        gr_dataset *set = source_built_in(ctx, r, s, 2 * per_class(&r->procedural), (uint64_t)s->split_seed);
        data->split = split_of(set, &r->procedural);
    } else if (!source_find(r, source_root(s), path, sizeof path)) {
        return not_found(r, s, source_root(s), command);
    } else if (r->format == RECIPE_CIFAR10) {
        data->split = gr_cifar10(ctx, path);
    } else if (r->format == RECIPE_IDX) {
        data->split = gr_idx(ctx, path);
    } else {
        int code = open_images(ctx, r, s, path, command, data);
        if (code)
            return code;
    }
    prepare_parts(r, s, &data->split);
    if (!gr_ok(ctx))
        return complain_of(ctx, command);
    hash_parts(data);
    int code = r->format == RECIPE_IDX && !s->procedural ? check_idx(r, s, data->split.train, path, command) : 0;
    if (code)
        return code;
    augment_parts(s->augment, &data->split);
    return gr_ok(ctx) ? 0 : complain_of(ctx, command);
}

int source_check_batch(const source *data, int64_t batch, const char *last_batch, const char *command)
{
    int64_t n = gr_dataset_size(data->split.train);
    if (batch <= n || last_batch_of(last_batch) == GR_PAD)
        return 0;
    return complain(GR_USAGE, command, "--batch %lld: the training set has only %lld samples", (long long)batch,
                    (long long)n);
}
