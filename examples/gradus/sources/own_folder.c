/* own_folder.c - see own_folder.h. */
#include "sources/own_folder.h"

#include <stdio.h>
#include <string.h>

#include "sources/format.h"
#include "sources/image_set.h"
#include "sources/source.h"
#include "sources/survey.h"
#include "terminal/complain.h"
#include "terminal/system.h"
#include "terminal/text.h"

/* --- folders that bring their own parts --------------------------------------------------------------------------- */

/* What people call them. */
enum { PART_NAMES = 8 };
static const char *const part_names[][PART_NAMES] = {
    {"train", "training", "Train", "Training", "TRAIN"},
    {"val", "validation", "valid", "Val", "Validation", "Valid", "VAL", "VALID"},
    {"test", "testing", "Test", "Testing", "TEST"}};

bool own_folder_part(const char *root, const char *part, char *path, size_t size)
{
    for (size_t i = 0; i < sizeof part_names / sizeof *part_names; i++)
        for (int k = 0; k < PART_NAMES && part_names[i][k] && strcmp(part_names[i][0], part) == 0; k++)
            if (snprintf(path, size, "%s/%s", root, part_names[i][k]) < (int)size && is_folder(path))
                return true;
    return false;
}

bool own_folder_has_parts(const char *root)
{
    char path[PATH_SIZE];
    return own_folder_part(root, "train", path, sizeof path) &&
           (own_folder_part(root, "val", path, sizeof path) || own_folder_part(root, "test", path, sizeof path));
}

/* Classes of a part must be those of the training part, or its labels would mean others. */
static int check_classes(const gr_dataset *train, const gr_dataset *part, const char *path, const char *command)
{
    const int n = gr_dataset_classes(train), m = gr_dataset_classes(part);
    for (int i = 0; i < n || i < m; i++) {
        const char *one = gr_dataset_class_name(train, i), *other = gr_dataset_class_name(part, i);
        if (!one || !other || strcmp(one, other) != 0)
            return complain(GR_BAD_DATA, command,
                            "%s: its classes are not those of the training part: %s is there, where %s is wanted", path,
                            other ? other : "no further class", one ? one : "none");
    }
    return 0;
}

static int open_parts(gr_context *ctx, const resolved *s, const char *root, const char *command, source *data)
{
    gr_dataset **const parts[] = {&data->split.train, &data->split.val, &data->split.test};
    char path[PATH_SIZE];
    int code = 0;
    if (s->asked.val_share.given || s->asked.test_share.given)
        return complain(GR_USAGE, command, "--%s: %s has parts of its own, train and others; leave the option out",
                        s->asked.val_share.given ? "val-share" : "test-share", root);
    for (int i = 0; i < 3 && code == 0; i++) {
        if (!own_folder_part(root, part_names[i][0], path, sizeof path))
            continue;
        file_sums sums = {0};
        survey_tell(path);
        *parts[i] = image_set_read(ctx, s, path, command, data, &sums, &code);
        if (*parts[i] && code == 0)
            code = check_classes(data->split.train, *parts[i], path, command);
        if (i < 2)
            file_sums_add_set(&data->seen, *parts[i], &sums);
        else
            data->copies = file_sums_shared(&data->seen, *parts[i], &sums);
        file_sums_free(&sums);
        if (!*parts[i])
            break;
    }
    return code;
}

/* --- one folder, which is split ----------------------------------------------------------------------------------- */

static int open_whole(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data)
{
    int code = 0;
    file_sums sums = {0};
    if (is_folder(path))
        survey_tell(path);
    gr_dataset *set = image_set_read(ctx, s, path, command, data, &sums, &code);
    if (code == 0) {
        data->split = gr_split_by_share(set, s->val_share, s->test_share);
        file_sums_add_set(&data->seen, data->split.train, &sums);
        file_sums_add_set(&data->seen, data->split.val, &sums);
        data->copies = file_sums_shared(&data->seen, data->split.test, &sums);
    }
    file_sums_free(&sums);
    return code;
}

/* --- the format --------------------------------------------------------------------------------------------------- */

static void tell_parts(const source *data, const resolved *s, bool split)
{
    char n[3][32];
    const gr_split *p = &data->split;
    if (is_quiet())
        return;
    print_plain(stderr, data->name);
    fprintf(stderr, ": %d classes; %s to train on, %s to validate with, %s to test with", gr_dataset_classes(p->train),
            thousands_text(gr_dataset_size(p->train), n[0]), thousands_text(gr_dataset_size(p->val), n[1]),
            thousands_text(gr_dataset_size(p->test), n[2]));
    if (split)
        fprintf(stderr, " (%g %% and %g %% of each class, drawn by --split-seed %lld)", 100 * s->val_share,
                100 * s->test_share, (long long)s->asked.split_seed);
    fprintf(stderr, "\n");
    if (data->copies == 0)
        return;
    print_plain(stderr, data->name);
    fprintf(stderr,
            ": %s of those to test with %s byte for byte what the network is trained on or chosen by; gradus evaluate "
            "leaves %s out\n",
            thousands_text(data->copies, n[0]), data->copies == 1 ? "is" : "are", data->copies == 1 ? "it" : "them");
}

static bool find(const recipe *r, const char *root, char *path, size_t size)
{
    (void)r;
    return snprintf(path, size, "%s", root) < (int)size && (is_folder(root) || is_readable_file(root));
}

static void cure(const recipe *r, char *text, size_t size)
{
    (void)r;
    snprintf(text, size, "--data FOLDER has a folder of pictures for each class, such as FOLDER/cat and FOLDER/dog");
}

static int open_own(gr_context *ctx, const resolved *s, const char *path, const char *command, source *data)
{
    const bool parts = is_folder(path) && own_folder_has_parts(path);
    const char *slash = strrchr(s->asked.data, '/');
    data->name = slash && slash[1] ? slash + 1 : s->asked.data;
    const int code = (parts ? open_parts : open_whole)(ctx, s, path, command, data);
    if (code == 0 && gr_ok(ctx))
        tell_parts(data, s, !parts);
    if (!s->asked.save_weights) /* the copies are counted, and nobody notes the files */
        file_sums_free(&data->seen);
    return code;
}

const format own_folder_format = {.name = "a folder of pictures of one's own",
                                  .channels = 3,
                                  .files = true,
                                  .own = true,
                                  .wanted = "a folder, an archive or a packed set",
                                  .find = find,
                                  .cure = cure,
                                  .open = open_own};
