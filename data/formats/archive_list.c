/*
 * archive_list.c - the class folders of an archive: where they lie in it, and which images each holds, in which order.
 */
#include <stdlib.h>
#include <string.h>

#include "data/formats/archive.h"
#include "data/formats/listing.h"

/* An image by the parts of its name: PARENT/CLASS/FILE, parent empty where the class folders lie at the top. */
typedef struct {
    const char *name, *class, *file; /* class and file point into name */
    int64_t class_length, member;
} gr_image_name;

/* Splits a name. False: it lies in no folder, or is no image, or hidden. */
static bool split_name(const char *name, gr_image_name *image)
{
    const char *slash = strrchr(name, '/');
    if (!slash || slash == name || slash[1] == '.' || !gr__is_image_name(slash + 1))
        return false;
    const char *class = slash;
    while (class > name && class[-1] != '/')
        class --;
    *image = (gr_image_name){.name = name, .class = class, .file = slash + 1, .class_length = slash - class};
    return *class != '.' && strncmp(name, "__MACOSX/", 9) != 0; /* which holds a shadow of every file */
}

static int by_class(const void *a, const void *b)
{
    const gr_image_name *s = a, *t = b;
    int64_t shorter = s->class_length < t->class_length ? s->class_length : t->class_length;
    int order = memcmp(s->class, t->class, (size_t)shorter);
    if (!order && s->class_length != t->class_length)
        order = s->class_length < t->class_length ? -1 : 1;
    return order ? order : gr__compare_names(s->file, t->file);
}

static bool same_class(const gr_image_name *s, const gr_image_name *t)
{
    return s->class_length == t->class_length && memcmp(s->class, t->class, (size_t)s->class_length) == 0;
}

/* All class folders lie in one folder; else nobody could say which are meant. */
static bool check_parents(gr_context *ctx, const gr_archive *archive, const gr_image_name *images, int64_t n)
{
    if (n == 0)
        return gr__archive_refuse(
            ctx, archive, "it holds no images (.jpg .jpeg .png) in folders; it should hold one folder per class");
    int64_t parent = images[0].class - images[0].name;
    for (int64_t i = 1; i < n; i++)
        if (images[i].class - images[i].name != parent || memcmp(images[i].name, images[0].name, (size_t)parent) != 0)
            return gr__archive_refuse(
                ctx, archive,
                "its images do not lie in class folders of one folder: %s and %s; unpack it and give "
                "the folder that is meant",
                images[0].name, images[i].name);
    return true;
}

/* Images first .. first+n-1 become a class. False: no memory. */
static bool take_class(const gr_image_name *images, int64_t n, gr_class_files *one)
{
    one->name = strndup(images[0].class, (size_t)images[0].class_length);
    one->files = calloc((size_t)n, sizeof *one->files);
    one->members = calloc((size_t)n, sizeof *one->members);
    bool good = one->name && one->files && one->members;
    for (int64_t i = 0; good && i < n; i++) {
        one->files[one->n++] = strdup(images[i].file);
        one->members[i] = images[i].member;
        good = one->files[i];
    }
    return good;
}

/* Cuts the sorted images into classes. */
static bool take_classes(gr_context *ctx, const gr_archive *archive, const gr_image_name *images, int64_t n,
                         gr_listing *listing)
{
    int64_t classes = n > 0;
    for (int64_t i = 1; i < n; i++)
        classes += !same_class(&images[i - 1], &images[i]);
    if (classes == 1)
        return gr__archive_refuse(ctx, archive, "it has one class only (%.*s); at least two class folders are needed",
                                  (int)images[0].class_length, images[0].class);
    listing->classes = gr__calloc(ctx, (size_t)classes, sizeof *listing->classes);
    bool good = listing->classes;
    for (int64_t first = 0, next; good && first < n; first = next) {
        for (next = first + 1; next < n && same_class(&images[first], &images[next]);)
            next++;
        good = take_class(images + first, next - first, &listing->classes[listing->n++]);
        if (!good)
            gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the names in %s", archive->path);
    }
    return good;
}

bool gr__list_archive(gr_context *ctx, const gr_archive *archive, gr_listing *listing)
{
    *listing = (gr_listing){0};
    gr_image_name *images = gr__calloc(ctx, (size_t)archive->n + 1, sizeof *images);
    if (!images)
        return false;
    int64_t n = 0;
    for (int64_t i = 0; i < archive->n; i++)
        if (split_name(archive->members[i].name, &images[n]))
            images[n++].member = i;
    bool good = check_parents(ctx, archive, images, n);
    if (good) {
        qsort(images, (size_t)n, sizeof *images, by_class);
        good = take_classes(ctx, archive, images, n, listing);
    }
    free(images);
    if (!good)
        gr__listing_free(listing);
    return good;
}
