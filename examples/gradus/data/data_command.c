/* data_command.c - gradus data: looks into data sets and packs them. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "settings/choices.h"
#include "sources/format.h"
#include "sources/parts.h"
#include "sources/turned.h"
#include "terminal/json_values.h"
#include "terminal/output.h"
#include "terminal/system.h"
#include "terminal/text.h"

typedef struct {
    choice filter;
    const char *manifest;
    int64_t size, threads;
    bool json;
} data_settings;

static const option data_options[] = {
    CHOICE_OPTION("filter", "NAME", offsetof(data_settings, filter), filter_names, FILTER_HELP),
    COUNT_OPTION("size", "SIDE", offsetof(data_settings, size), 1, 4096,
                 "resize pictures of folders and archives to SIDE x SIDE, as training does (default of pack: 200)"),
    TEXT_OPTION(
        "manifest", "FILE", offsetof(data_settings, manifest),
        "write which files were taken, a line of name, bytes and CRC-32 each; sha256sum of it is the hash shown"),
    COUNT_OPTION("threads", "N", offsetof(data_settings, threads), 1, 1024, "(default: all this process may use)"),
    FLAG_OPTION("json", offsetof(data_settings, json), "print what was found as one line of JSON"),
    {0},
};

/* What is said of a set while it is read. */
typedef struct {
    output manifest; /* open when it is to be written */
    bool quiet;
    int64_t taken, left_out;
    turned turned;
} listener;

static void hear_skipped(void *user, const char *file, const char *reason)
{
    listener *l = user;
    l->left_out++;
    if (l->quiet)
        return;
    printf("left out ");
    print_plain(stdout, file);
    printf(": %s\n", reason);
}

static void hear_taken(void *user, const char *line)
{
    listener *l = user;
    l->taken++;
    if (l->manifest.file)
        fputs(line, l->manifest.file);
}

static void hear_turned(void *user, const char *file)
{
    turned_note(&((listener *)user)->turned, file);
}

/* Files and images of one class, for the report. */
static int64_t images_of_class(const gr_dataset *set, int class)
{
    int64_t n = 0;
    for (int64_t i = 0; i < gr_dataset_size(set); i++)
        n += gr_dataset_label(set, i) == class;
    return n;
}

static void print_json(const gr_dataset *set, const data_settings *s, const listener *l, bool packed, double seconds)
{
    int64_t shape[3];
    char hash[17];
    gr_dataset_shape(set, shape);
    gr_dataset_hash(set, hash);
    json_t *o = json_object(), *classes = json_object();
    for (int c = 0; c < gr_dataset_classes(set); c++) {
        json_t *name = json_plain(gr_dataset_class_name(set, c));
        json_object_set_new(classes, json_string_value(name), json_integer(images_of_class(set, c)));
        json_decref(name);
    }
    json_object_set_new(o, "images", json_integer(gr_dataset_size(set)));
    json_object_set_new(o, "classes", classes);
    json_object_set_new(o, "shape",
                        json_pack("[I, I, I]", (json_int_t)shape[0], (json_int_t)shape[1], (json_int_t)shape[2]));
    json_object_set_new(o, "filter", packed ? json_null() : json_string(filter_names[s->filter.value]));
    json_object_set_new(o, "left_out", packed ? json_null() : json_integer(l->left_out));
    json_object_set_new(o, "turned", packed ? json_null() : json_integer(l->turned.n));
    json_object_set_new(o, "manifest_sha256",
                        *gr_dataset_manifest(set) ? json_string(gr_dataset_manifest(set)) : json_null());
    json_object_set_new(o, "data_hash", packed || s->size ? json_string(hash) : json_null());
    json_object_set_new(o, "seconds", json_real(seconds));
    json_dumpf(o, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(o);
}

static void print_class(const char *name, int64_t images)
{
    const int columns = text_columns(name);
    char number[32];
    printf("class ");
    print_plain(stdout, name);
    printf("%*s %s images\n", columns < 20 ? 20 - columns : 0, "", thousands_text(images, number));
}

static void print_text(const gr_dataset *set, const data_settings *s, const listener *l, bool packed, double seconds)
{
    char hash[17], number[32], rate[32], time[32];
    int64_t shape[3];
    gr_dataset_shape(set, shape);
    for (int c = 0; c < gr_dataset_classes(set); c++)
        print_class(gr_dataset_class_name(set, c), images_of_class(set, c));
    if (!packed)
        printf("filter %-19s %s files taken, %lld left out\n", filter_names[s->filter.value],
               thousands_text(l->taken, number), (long long)l->left_out);
    turned_tell(&l->turned, stdout);
    if (*gr_dataset_manifest(set))
        printf("manifest sha256            %s\n", gr_dataset_manifest(set));
    if (packed || s->size) {
        gr_dataset_hash(set, hash);
        printf("pictures                   %lldx%lldx%lld, hash %s\n", (long long)shape[0], (long long)shape[1],
               (long long)shape[2], hash);
    }
    printf("%-26s %s images in %s, %s images/s\n", packed ? "mapped and checked" : "read and decoded",
           thousands_text(gr_dataset_size(set), number), duration_text(seconds, time),
           thousands_text((int64_t)((double)gr_dataset_size(set) / seconds), rate));
}

/*
 * Reads the set at path. Pictures of files become 1 x 1 where nobody asks for them: the rest of the work is the same.
 */
static gr_dataset *read_set(gr_context *ctx, const char *path, const data_settings *s, listener *l)
{
    if (ends_in(path, ".grd"))
        return gr_packed(ctx, path, NULL);
    int side = s->size ? (int)s->size : 1;
    gr_image_options options = {.height = side,
                                .width = side,
                                .allow_bad = 1,
                                .skipped = hear_skipped,
                                .taken = hear_taken,
                                .turned = hear_turned,
                                .user = l,
                                .filter = (gr_filter)s->filter.value};
    return gr_image_folder(ctx, path, &options);
}

/* A set that brings its own parts: there is nothing to choose, and nothing to pack. */
static int look_at_parts(gr_context *ctx, const format *f, const char *path, bool pack, const data_settings *s)
{
    if (pack)
        return complain(GR_USAGE, "data", "%s is %s, read as quickly as a packed set; there is nothing to pack", path,
                        f->name);
    if (s->filter.given || s->size || s->manifest)
        return complain(GR_USAGE, "data", "%s is %s: --filter, --size and --manifest are for folders of pictures", path,
                        f->name);
    return parts_check(ctx, f, path, s->json);
}

/* Both verbs: reads the set, writes the packed one to out unless that is NULL, and tells. Returns the exit code. */
static int look(gr_context *ctx, const char *path, const char *out, const data_settings *s, listener *l)
{
    double start = now_seconds();
    gr_dataset *set = read_set(ctx, path, s, l);
    double seconds = now_seconds() - start;
    if (!set || (out && !gr_pack(set, out)))
        return complain_of(ctx, "data");
    const int code = l->manifest.file ? output_commit(&l->manifest, "data") : 0;
    if (code)
        return code;
    (s->json ? print_json : print_text)(set, s, l, ends_in(path, ".grd"), seconds);
    return 0;
}

/* Wrong words and options that mean nothing together. Returns 0 or an exit code, complained of. */
static int check_words(const char *const words[3], const data_settings *s)
{
    const char *names[] = {"check", "pack", "show", NULL};
    bool check = words[0] && strcmp(words[0], "check") == 0, pack = words[0] && strcmp(words[0], "pack") == 0;
    if (!words[0])
        return complain(GR_USAGE, "data", "say what to do: check, pack or show; see 'gradus data --help'");
    if (!check && !pack) {
        const char *near = nearest(words[0], (name_list)NAMES(names));
        return complain(GR_USAGE, "data", "there is no \"%s\"; it is check, pack or show%s%s%s", words[0],
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    }
    if (!words[1])
        return complain(GR_USAGE, "data", "%s wants the path of a data set", words[0]);
    if (pack && (!words[2] || !ends_in(words[2], ".grd")))
        return complain(GR_USAGE, "data", "pack wants a path to write to that ends in .grd, behind the data set's%s%s",
                        words[2] ? ", not " : "", words[2] ? words[2] : "");
    if (check && words[2])
        return complain(GR_USAGE, "data", "check takes one path; what is %s?", words[2]);
    if (ends_in(words[1], ".grd") && (pack || s->filter.given || s->size || s->manifest))
        return complain(GR_USAGE, "data", "%s is packed: its files, filter and size were chosen when that was done; %s",
                        words[1], pack ? "pack the folder or archive it was made of" : "leave the options out");
    return 0;
}

static int run_data(int argc, char **argv)
{
    data_settings s = {0};
    const char *words[3] = {0};
    options_end end = options_parse(&data_command, &s, argc, argv, words);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    int code = check_words(words, &s);
    if (code)
        return code;
    bool pack = strcmp(words[0], "pack") == 0;
    s.size = s.size || !pack || parts_format(words[1]) ? s.size : 200;
    listener l = {.quiet = s.json};
    const format *parts = parts_format(words[1]);
    if (!parts && pack)
        code = output_check(words[2], "data");
    if (code == 0 && !parts && s.manifest)
        code = output_open(&l.manifest, s.manifest, "data");
    if (code)
        return code;
    gr_context *ctx = gr_open(&(gr_options){.threads = (int)s.threads});
    code = !ctx    ? complain(GR_NO_MEMORY, "data", "out of memory")
           : parts ? look_at_parts(ctx, parts, words[1], pack, &s)
                   : look(ctx, words[1], pack ? words[2] : NULL, &s, &l);
    output_drop(&l.manifest);
    gr_close(ctx);
    return code;
}

static const char *verb(int i)
{
    static const char *const verbs[] = {"check", "pack", "show", NULL};
    return verbs[i];
}

static const option_group groups[] = {{"Options", data_options, NULL, 0}, {0}};

const gradus_command data_command = {
    .name = "data",
    .purpose = "look into data sets, check and pack them",
    .usage = "data check PATH [options]\ndata pack PATH OUT.grd [options]\ndata show RECIPE --out SHEET.png [options]",
    .about = "Looks into data sets and packs them. PATH is a folder of class folders, a .zip, .tar or .tar.gz of them, "
             "read as it is, a packed set, or the files of CIFAR-10 or MNIST. check reads every file and tells what "
             "is in it, what would be left out and why. pack decodes and resizes once, for --data OUT.grd. show "
             "draws what training sees of a recipe's pictures; see 'gradus data show --help'.",
    .operand = "check, pack or show, and paths",
    .operands = 3,
    .operand_name = verb,
    .examples = "data check datasets/PetImages --filter keras-jfif\n"
                "data pack kagglecatsanddogs_5340.zip pets.grd --size 200\n"
                "train cats-vs-dogs --data pets.grd",
    .groups = groups,
    .run = run_data,
};
