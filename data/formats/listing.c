/* listing.c - reads a folder of class folders. */
#include "data/formats/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int gr__compare_names(const char *a, const char *b)
{
    const char *s = a, *t = b;
    while (*s && *t) {
        if (!is_digit(*s) || !is_digit(*t)) {
            if (*s != *t)
                return (unsigned char)*s - (unsigned char)*t;
            s++, t++;
            continue;
        }
        s += strspn(s, "0");
        t += strspn(t, "0");
        size_t m = strspn(s, "0123456789"), n = strspn(t, "0123456789");
        if (m != n)
            return m < n ? -1 : 1;
        int order = strncmp(s, t, m);
        if (order)
            return order;
        s += m, t += n;
    }
    return *s || *t ? (*s ? 1 : -1) : strcmp(a, b); /* 07 and 7 are the same number: the text decides */
}

static int by_number(const void *a, const void *b)
{
    return gr__compare_names(*(char *const *)a, *(char *const *)b);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gr_class_files *)a)->name, ((const gr_class_files *)b)->name);
}

/* An entry that the system cannot tell of is recorded: it may be a class. */
static bool is_folder(gr_context *ctx, const char *parent, const char *name)
{
    char path[4096];
    struct stat status;
    if (snprintf(path, sizeof path, "%s/%s", parent, name) >= (int)sizeof path)
        return false;
    if (stat(path, &status) == 0)
        return S_ISDIR(status.st_mode);
    if (!gr__is_paths_fault(errno))
        gr__fail(ctx, gr__io_code(errno), "%s cannot be looked at: %s", path, strerror(errno));
    return false;
}

bool gr__is_image_name(const char *name)
{
    static const char *const endings[] = {".jpg", ".jpeg", ".png"};
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < 3; i++)
        if (strcasecmp(dot, endings[i]) == 0)
            return true;
    return false;
}

/* A copy of name at the end of a growing array. */
static bool append(gr_context *ctx, char ***names, int64_t *n, const char *name)
{
    if ((*n & (*n - 1)) == 0) { /* room for the next power of two */
        char **grown = realloc(*names, (size_t)(*n ? 2 * *n : 1) * sizeof *grown);
        if (!grown)
            return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the names of %lld files", (long long)*n);
        *names = grown;
    }
    char *copy = strdup(name);
    if (!copy)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the names of %lld files", (long long)*n);
    (*names)[(*n)++] = copy;
    return true;
}

static void free_names(char **names, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* Hidden, or what macOS puts beside the folders that it packs: a shadow of every file. */
static bool is_shadow(const char *name)
{
    return name[0] == '.' || strcmp(name, "__MACOSX") == 0;
}

/* Names of the image files (or of the subfolders) in folder; hidden ones and all else are passed over. */
static bool read_folder(gr_context *ctx, const char *folder, bool subfolders, char ***names, int64_t *n)
{
    DIR *dir = opendir(folder);
    *names = NULL;
    *n = 0;
    if (!dir)
        return gr__fail(ctx, errno == ENOENT || errno == ENOTDIR ? GR_BAD_DATA : gr__io_code(errno),
                        "image folder %s: %s; give the folder that holds one folder of images per class", folder,
                        strerror(errno));
    bool ok = true;
    struct dirent *entry;
    for (errno = 0; ok && (entry = readdir(dir)) != NULL; errno = 0)
        if (!is_shadow(entry->d_name) &&
            (subfolders ? is_folder(ctx, folder, entry->d_name) : gr__is_image_name(entry->d_name)))
            ok = append(ctx, names, n, entry->d_name);
        else
            ok = gr_ok(ctx);
    if (ok && errno)
        ok = gr__fail(ctx, gr__io_code(errno), "image folder %s cannot be read: %s", folder, strerror(errno));
    closedir(dir);
    if (!ok) {
        free_names(*names, *n);
        *names = NULL;
        *n = 0;
    }
    return ok;
}

/* Whether folder is root or one above it, by a symbolic link: the classes found in there would be root's own. */
static bool leads_back(const char *root, const char *folder)
{
    char *to = realpath(folder, NULL), *from = realpath(root, NULL);
    const size_t n = to ? strlen(to) : 0;
    const bool back = to && from && strncmp(to, from, n) == 0 && (!from[n] || from[n] == '/' || to[n - 1] == '/');
    free(to);
    free(from);
    return back;
}

/* A class folder without images, which is often a sign that root is one level too high. */
static bool fail_no_images(gr_context *ctx, const char *root, const char *folder)
{
    char **inside;
    int64_t n;
    if (!read_folder(ctx, folder, true, &inside, &n))
        return false;
    if (leads_back(root, folder))
        gr__fail(ctx, GR_BAD_DATA, "%s is a symbolic link that leads back to %s or above it; remove the link", folder,
                 root);
    else if (n)
        gr__fail(ctx, GR_BAD_DATA,
                 "%s holds no images (.jpg .jpeg .png) but folders; if those are the classes, give %s and not %s",
                 folder, folder, root);
    else
        gr__fail(ctx, GR_BAD_DATA, "%s holds no images (.jpg .jpeg .png); add some or remove the folder", folder);
    free_names(inside, n);
    return false;
}

static bool list_class(gr_context *ctx, const char *root, gr_class_files *one)
{
    char folder[4096];
    if (snprintf(folder, sizeof folder, "%s/%s", root, one->name) >= (int)sizeof folder)
        return gr__fail(ctx, GR_BAD_DATA, "the path %s/%s is too long", root, one->name);
    if (!read_folder(ctx, folder, false, &one->files, &one->n))
        return false;
    if (one->n == 0)
        return fail_no_images(ctx, root, folder);
    qsort(one->files, (size_t)one->n, sizeof *one->files, by_number);
    return true;
}

/* Why root with n class folders cannot be a data set. True: it can. */
static bool check_classes(gr_context *ctx, const char *root, int64_t n, char *const *names)
{
    if (n == 0)
        return gr__fail(ctx, GR_BAD_DATA,
                        "%s has no class folders; it should hold one folder of images per class, such as Cat and Dog",
                        root);
    if (n == 1)
        return gr__fail(
            ctx, GR_BAD_DATA,
            "%s has one class only (%s); at least two class folders are needed - or is %s/%s the folder meant?", root,
            names[0], root, names[0]);
    if (n > INT32_MAX)
        return gr__fail(ctx, GR_BAD_DATA, "%s has too many folders (%lld)", root, (long long)n);
    return true;
}

bool gr__list_images(gr_context *ctx, const char *root, gr_listing *listing)
{
    *listing = (gr_listing){0};
    char **names;
    int64_t n;
    if (!read_folder(ctx, root, true, &names, &n))
        return false;
    if (check_classes(ctx, root, n, names))
        listing->classes = gr__calloc(ctx, (size_t)n, sizeof *listing->classes);
    if (!listing->classes) {
        free_names(names, n);
        return false;
    }
    listing->n = (int)n;
    for (int i = 0; i < listing->n; i++)
        listing->classes[i].name = names[i];
    free(names);
    qsort(listing->classes, (size_t)n, sizeof *listing->classes, by_name);
    for (int i = 0; i < listing->n; i++)
        if (!list_class(ctx, root, &listing->classes[i])) {
            gr__listing_free(listing);
            return false;
        }
    return true;
}

void gr__listing_free(gr_listing *listing)
{
    for (int i = 0; i < listing->n; i++) {
        free_names(listing->classes[i].files, listing->classes[i].n);
        free(listing->classes[i].name);
        free(listing->classes[i].members);
    }
    free(listing->classes);
    *listing = (gr_listing){0};
}
