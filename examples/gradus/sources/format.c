/* format.c - the list of formats, and what they share. */
#include "sources/format.h"

#include <stdio.h>
#include <string.h>

#include "terminal/system.h"

const format *const formats[] = {&cifar10_format, &idx_format, &table_format, &image_folder_format, NULL};

bool has_folder(const char *root, const char *name)
{
    char path[PATH_SIZE];
    return snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path && is_folder(path);
}

bool has_file(const char *root, const char *name)
{
    char path[PATH_SIZE];
    return snprintf(path, sizeof path, "%s/%s", root, name) < (int)sizeof path && is_readable_file(path);
}

bool ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length >= n && strcmp(path + length - n, ending) == 0;
}

bool find_below(const recipe *r, const char *root, char *path, size_t size)
{
    bool below = has_folder(root, r->data);
    snprintf(path, size, "%s%s%s", root, below ? "/" : "", below ? r->data : "");
    return below;
}

void cure_by_fetching(const recipe *r, char *text, size_t size)
{
    snprintf(text, size, "'scripts/get_data.sh %s' fetches the data", r->download);
}
