/* tensorboard.c - see tensorboard.h. */
#include "report/tensorboard.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "report/event_file.h"
#include "terminal/checksum.h"
#include "terminal/json_values.h"

enum { PATH_SIZE = 2900, LONGEST_NAME = 255 /* bytes, which a file system takes */ };

/* Names under which TensorBoard groups what belongs together, and the keys of an epoch's line. */
static const struct {
    const char *name, *key;
} by_epoch[] = {{"loss/train", "train_loss"},
                {"loss/validation", "val_loss"},
                {"loss/test", "test_loss"},
                {"accuracy/train", "train_accuracy"},
                {"accuracy/validation", "val_accuracy"},
                {"accuracy/test", "test_accuracy"},
                {"epoch", "epoch"},
                {"batch", "batch"},
                {"noise scale", "noise_scale"},
                {"sharpness", "sharpness"},
                {"loss scale", "loss_scale"}};

/* The same of a row: of the whole run, at its last update. */
static const struct {
    const char *name, *key;
} at_end[] = {{"run/test accuracy", "test_accuracy"},           {"run/test loss", "test_loss"},
              {"run/validation accuracy", "val_accuracy"},      {"run/seconds", "seconds"},
              {"run/samples per second", "samples_per_second"}, {"run/peak bytes", "peak_bytes"}};

/* What a row was asked for stands in front of this key; what was measured follows. */
static const char first_measured[] = "epochs";

/* Settings of the run that somebody chose: no place in a list of what TensorBoard can colour runs by is empty. */
static json_t *settings_of(const json_t *row)
{
    json_t *o = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)row, key, value)
    {
        if (strcmp(key, first_measured) == 0)
            break;
        if (!json_is_null(value))
            json_object_set(o, key, value);
    }
    if (json_object_get(row, "variant"))
        json_object_set(o, "variant", json_object_get(row, "variant"));
    return o;
}

/* Seconds since 1970 of the row's date, when the run ended; 0: it has none. */
static double end_of(const json_t *row)
{
    struct tm at = {0};
    if (sscanf(text_at(row, "date"), "%d-%d-%dT%d:%d:%d", &at.tm_year, &at.tm_mon, &at.tm_mday, &at.tm_hour, &at.tm_min,
               &at.tm_sec) != 6)
        return 0;
    at.tm_year -= 1900;
    at.tm_mon -= 1;
    return (double)timegm(&at);
}

static void without_slashes(char *text)
{
    for (; *text; text++)
        *text = *text == '/' ? '_' : *text;
}

/* Cuts a name that is too long, between two letters; it ends in a checksum of the whole, as two may begin the same. */
static void shorten(char *name, const char *whole)
{
    char sum[16];
    if (strlen(name) < LONGEST_NAME)
        return;
    snprintf(sum, sizeof sum, "~%08x", (unsigned)checksum_add(0, whole, strlen(whole)));
    size_t end = LONGEST_NAME - strlen(sum);
    while ((name[end] & 0xc0) == 0x80) /* within a letter of several bytes */
        end--;
    strcpy(name + end, sum);
}

/* "FOLDER/LABEL/adam batch 16 seed 1 lr=0.01"; a slash in one of these names would be a folder more. */
static void folder_of(const runs *r, const json_t *row, const char *folder, char path[PATH_SIZE])
{
    char name[VARIANT_NAME + 128], whole[VARIANT_NAME + 128], label[RUNS_LABEL];
    const char *variant = text_at(row, "variant");
    snprintf(name, sizeof name, "%s batch %lld seed %lld%s%s", text_at(row, "optimizer"),
             (long long)json_integer_value(json_object_get(row, "batch")),
             (long long)json_integer_value(json_object_get(row, "seed")), *variant ? " " : "", variant);
    snprintf(label, sizeof label, "%s", r->label);
    without_slashes(label);
    without_slashes(name);
    strcpy(whole, name);
    shorten(name, whole);
    shorten(label, r->folder); /* a label that was cut before has its last byte full */
    snprintf(path, PATH_SIZE, "%s/%s/%s", folder, label, name);
}

static void write_events(output *out, const json_t *row, double begin, double end)
{
    const json_t *epoch;
    size_t i;
    json_t *chosen = settings_of(row);
    event_begin(out, begin);
    event_settings(out, begin, chosen);
    json_decref(chosen);
    json_array_foreach(json_object_get(row, "history"), i, epoch)
    {
        const double seconds = number_at(epoch, "seconds");
        const int64_t step = json_integer_value(json_object_get(epoch, "updates"));
        for (size_t k = 0; k < sizeof by_epoch / sizeof *by_epoch; k++)
            event_scalar(out, begin + (isfinite(seconds) ? seconds : 0), step, by_epoch[k].name,
                         number_at(epoch, by_epoch[k].key));
    }
    for (size_t k = 0; k < sizeof at_end / sizeof *at_end; k++)
        event_scalar(out, end, json_integer_value(json_object_get(row, "updates")), at_end[k].name,
                     number_at(row, at_end[k].key));
    event_end(out, end, strcmp(text_at(row, "state"), "done") == 0);
}

/* The one file of a run, under the same name every time: TensorBoard reads all that lie in a folder. */
static int write_run(const runs *r, const json_t *row, const char *folder)
{
    char path[PATH_SIZE], file[PATH_SIZE + 64];
    output out;
    const double end = end_of(row), seconds = number_at(row, "seconds");
    folder_of(r, row, folder, path);
    int code = folder_make(path, "report");
    snprintf(file, sizeof file, "%s/events.out.tfevents.0000000000.gradus", path);
    if (code == 0)
        code = output_open(&out, file, "report");
    if (code)
        return code;
    write_events(&out, row, end - (isfinite(seconds) ? seconds : 0), end);
    return output_commit(&out, "report");
}

int tensorboard_write(const runs *r, const char *folder)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < json_array_size(r->journal.rows); i++)
        if (runs_counts(r, i))
            code = write_run(r, json_array_get(r->journal.rows, i), folder);
    return code;
}
