/*
 * format.h - what data sets lie in, an entry each: how it is found below a root, what is said where it is missing, how
 * it is read, and what of it must fit a recipe. docs/adding-a-format.md.
 */
#ifndef GRADUS_FORMAT_H
#define GRADUS_FORMAT_H

#include "settings/resolved.h"

typedef struct source source;

struct format {
    const char *name;   /* "a folder of pictures" */
    int channels;       /* of its pictures, 1 or 3; 1 of a table */
    bool features;      /* rows of features, no pictures */
    bool own;           /* pictures of one's own: of any classes, split by shares */
    bool files;         /* a file a picture: they can be filtered, and decoded when a batch wants them */
    const char *wanted; /* what find looks for, in words */

    /* Where a recipe's data lie below root, into path. False: not there; path then is what was looked at last. */
    bool (*find)(const recipe *r, const char *root, char *path, size_t size);

    /* What to do where they are missing, into text. NULL: they are never missing. */
    void (*cure)(const recipe *r, char *text, size_t size);

    /* Reads the set at path into data->split. Returns 0 or an exit code, complained of; the context may tell more. */
    int (*open)(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data);

    /*
     * Whether the set that was read fits the recipe's network. 0 or an exit code, complained of. NULL: it always
     * does.
     */
    int (*check)(const resolved *s, const gr_dataset *train, const char *path, const char *command);

    /* For 'gradus data check': whether path is such a set, and reading all its parts. NULL: it has a way of its own. */
    bool (*is)(const char *path);
    gr_split (*read)(gr_context *ctx, const char *path);
};

extern const format image_folder_format, own_folder_format, cifar10_format, idx_format, table_format;
extern const format *const formats[]; /* all of them; ends with NULL */

enum { PATH_SIZE = 4096 };

/* Small things that formats share. */
bool has_folder(const char *root, const char *name);
bool has_file(const char *root, const char *name);
bool ends_in(const char *path, const char *ending);

/* find of formats whose recipes have a folder of the set's name. */
bool find_below(const recipe *r, const char *root, char *path, size_t size);

/* cure of formats whose sets scripts/get_data.sh fetches. */
void cure_by_fetching(const recipe *r, char *text, size_t size);

#endif
