/* parts.c - see parts.h. */
#include "sources/parts.h"

#include <jansson.h>

#include "sources/source.h"
#include "terminal/complain.h"
#include "terminal/system.h"
#include "terminal/text.h"

const format *parts_format(const char *path)
{
    for (int i = 0; formats[i]; i++)
        if (formats[i]->is && formats[i]->is(path))
            return formats[i];
    return NULL;
}

static int64_t of_class(const gr_dataset *set, int class)
{
    int64_t n = 0;
    for (int64_t i = 0; i < gr_dataset_size(set); i++)
        n += gr_dataset_label(set, i) == class;
    return n;
}

static void print_json(const format *f, const gr_split *split, const char *hash, double seconds)
{
    int64_t shape[3];
    gr_dataset_shape(split->train, shape);
    json_t *classes = json_object();
    for (int c = 0; c < gr_dataset_classes(split->train); c++)
        json_object_set_new(classes, gr_dataset_class_name(split->train, c),
                            json_pack("{s:I, s:I}", "train", (json_int_t)of_class(split->train, c), "test",
                                      (json_int_t)of_class(split->test, c)));
    json_t *o = json_pack("{s:s, s:I, s:I, s:o, s:[I, I, I], s:s, s:f}", "format", f->name, "train",
                          (json_int_t)gr_dataset_size(split->train), "test", (json_int_t)gr_dataset_size(split->test),
                          "classes", classes, "shape", (json_int_t)shape[0], (json_int_t)shape[1], (json_int_t)shape[2],
                          "data_hash", hash, "seconds", seconds);
    json_dumpf(o, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(o);
}

static void print_text(const format *f, const gr_split *split, const char *hash, double seconds)
{
    char number[2][32], time[32];
    int64_t shape[3];
    gr_dataset_shape(split->train, shape);
    printf("%-26s %s to train on, %s to test with\n", f->name, thousands_text(gr_dataset_size(split->train), number[0]),
           thousands_text(gr_dataset_size(split->test), number[1]));
    for (int c = 0; c < gr_dataset_classes(split->train); c++)
        printf("class %-20s %s and %s images\n", gr_dataset_class_name(split->train, c),
               thousands_text(of_class(split->train, c), number[0]),
               thousands_text(of_class(split->test, c), number[1]));
    printf("pictures                   %lldx%lldx%lld, hash %s\n", (long long)shape[0], (long long)shape[1],
           (long long)shape[2], hash);
    printf("read                       in %s\n", duration_text(seconds, time));
}

int parts_check(gr_context *ctx, const format *f, const char *path, bool json)
{
    double start = now_seconds();
    const gr_split split = f->read(ctx, path);
    char hash[17];
    if (!gr_ok(ctx))
        return complain_of(ctx, "data");
    source_hash(&split, hash);
    (json ? print_json : print_text)(f, &split, hash, now_seconds() - start);
    return 0;
}
