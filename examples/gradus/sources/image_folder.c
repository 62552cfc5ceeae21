/* image_folder.c - folders of class folders, archives of them as they were fetched, and packed sets. */
#include <stdio.h>
#include <string.h>

#include "sources/format.h"
#include "sources/image_set.h"
#include "sources/source.h"
#include "sources/turned.h"
#include "terminal/complain.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* A folder of class folders, an archive of them as it was fetched, or a packed set. */
static bool find(const recipe *r, const char *root, char *path, size_t size)
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

static void tell_skipped(void *user, const char *file, const char *reason)
{
    (void)user;
    if (!file || is_quiet())
        return;
    fprintf(stderr, "left out ");
    print_plain(stderr, file);
    fprintf(stderr, ": %s\n", reason);
}

/* Says which files a set was made of: the hash of its manifest, which 'gradus data check' can write out. */
static void tell_manifest(const source *data, const resolved *s, const gr_dataset *set, bool packed)
{
    char taken[32];
    if (is_quiet())
        return;
    print_plain(stderr, data->name);
    fprintf(stderr, ": %s files taken", thousands_text(gr_dataset_size(set), taken));
    if (!packed)
        fprintf(stderr, ", %lld left out (filter %s)", (long long)gr_dataset_skipped(set),
                filter_names[s->asked.filter.value]);
    fprintf(stderr, "; manifest sha256 %s\n", gr_dataset_manifest(set));
}

/* The pictures of a packed set have the size they were packed in. Returns 0 or an exit code, complained of. */
static int check_packed(const resolved *s, const gr_dataset *set, const char *path, const char *command)
{
    int64_t shape[3], wanted[3];
    source_shape(s, wanted);
    gr_dataset_shape(set, shape);
    if (s->asked.filter.given)
        return complain(GR_USAGE, command, "--filter %s: %s is packed, its files were chosen then",
                        filter_names[s->asked.filter.value], path);
    if (memcmp(shape, wanted, sizeof shape) != 0)
        return complain(GR_BAD_DATA, command,
                        "%s holds pictures of %lldx%lldx%lld, %s is for %lldx%lldx%lld; pack it again with --size %lld",
                        path, (long long)shape[0], (long long)shape[1], (long long)shape[2], s->recipe->name,
                        (long long)wanted[0], (long long)wanted[1], (long long)wanted[2], (long long)wanted[0]);
    return 0;
}

/* Who is told of the files. */
typedef struct {
    file_sums *sums;
    turned turned;
} listener;

static void hear_taken(void *user, const char *line)
{
    file_sums_taken(((listener *)user)->sums, line);
}

static void hear_turned(void *user, const char *file)
{
    turned_note(&((listener *)user)->turned, file);
}

static gr_dataset *read_images(gr_context *ctx, const resolved *s, const char *path, file_sums *sums)
{
    int64_t shape[3];
    const bool own = s->recipe->format->own;
    listener l = {.sums = sums};
    source_shape(s, shape);
    gr_dataset *set =
        gr_image_folder(ctx, path,
                        &(gr_image_options){.height = (int)shape[0],
                                            .width = (int)shape[1],
                                            .per_class = (int)source_per_class(&s->recipe->split),
                                            .split_seed = (uint64_t)s->asked.split_seed,
                                            .skipped = tell_skipped,
                                            .taken = own || s->asked.save_weights ? hear_taken : NULL,
                                            .turned = own ? hear_turned : NULL, /* published runs saw them so */
                                            .user = &l,
                                            .allow_bad = own ? 1 : 0, /* each is told */
                                            .decode_late = resolved_preload(s) == PRELOAD_NONE,
                                            .memory = s->asked.preload_limit,
                                            .filter = (gr_filter)s->asked.filter.value});
    if (set && !is_quiet())
        turned_tell(&l.turned, stderr);
    return set;
}

static gr_dataset *read_packed(gr_context *ctx, const resolved *s, const char *path)
{
    return gr_packed(ctx, path,
                     &(gr_packed_options){.per_class = (int)source_per_class(&s->recipe->split),
                                          .split_seed = (uint64_t)s->asked.split_seed});
}

gr_dataset *image_set_read(gr_context *ctx, const resolved *s, const char *path, const char *command,
                           const source *data, file_sums *sums, int *code)
{
    const bool packed = ends_in(path, ".grd");
    *code = 0;
    if (packed && resolved_preload(s) == PRELOAD_NONE) {
        *code =
            complain(GR_USAGE, command, "--preload none: a packed set is mapped, not decoded; leave the option out");
        return NULL;
    }
    gr_dataset *set = packed ? read_packed(ctx, s, path) : read_images(ctx, s, path, sums);
    if (packed && set)
        *code = check_packed(s, set, path, command);
    if (set && *code == 0)
        tell_manifest(data, s, set, packed);
    return *code ? NULL : set;
}

static int open_images(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data)
{
    int code;
    file_sums sums = {0};
    gr_dataset *set = image_set_read(ctx, s, path, command, data, &sums, &code);
    if (code == 0) {
        data->split = source_split(set, &s->recipe->split);
        file_sums_add_set(&data->seen, data->split.train, &sums);
        file_sums_add_set(&data->seen, data->split.val, &sums);
    }
    file_sums_free(&sums);
    return code;
}

const format image_folder_format = {.name = "a folder of pictures",
                                    .channels = 3,
                                    .files = true,
                                    .wanted = "PetImages, the folders Cat and Dog, or kagglecatsanddogs_5340.zip",
                                    .find = find,
                                    .cure = cure_by_fetching,
                                    .open = open_images};
