/* checkpoints.c - see checkpoints.h. */
#include "train/checkpoints.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/checksum.h"
#include "terminal/complain.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/output.h"
#include "terminal/values.h"
#include "train/row.h"

/* "500" updates or "10m" minutes. */
static bool read_interval(const char *text, int64_t *updates, double *seconds)
{
    char number[32];
    const size_t length = strlen(text);
    *updates = 0;
    *seconds = 0;
    if (length == 0 || length >= sizeof number || text[length - 1] != 'm')
        return parse_count(text, 1, INT64_MAX, updates);
    memcpy(number, text, length - 1);
    number[length - 1] = '\0';
    double minutes;
    const bool good = parse_positive(number, &minutes);
    *seconds = 60 * minutes;
    return good;
}

int checkpoints_check(const settings *s, const char *command)
{
    int64_t updates;
    double seconds;
    const char *alone = s->resume                 ? "resume"
                        : s->keep                 ? "keep"
                        : s->checkpoint_every     ? "checkpoint-every"
                        : s->no_epoch_checkpoints ? "no-epoch-checkpoints"
                                                  : NULL;
    if (alone && !s->checkpoint)
        return complain(GR_USAGE, command, "--%s needs a --checkpoint FOLDER", alone);
    if (s->checkpoint_every && !read_interval(s->checkpoint_every, &updates, &seconds))
        return complain(GR_USAGE, command,
                        "--checkpoint-every \"%s\": it must be a number of updates such as 500, or of minutes such as "
                        "10m",
                        s->checkpoint_every);
    return 0;
}

/* Puts a value under its name as text. False: no memory. */
static bool put(json_t *texts, const char *key, const json_t *value)
{
    if (json_is_string(value) || json_is_null(value))
        return json_object_set_new(texts, key,
                                   json_string(json_is_null(value) ? "not given" : json_string_value(value))) == 0;
    char *text = json_text(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    const bool good = json_object_set_new(texts, key, text ? json_string(text) : NULL) == 0;
    free(text);
    return good;
}

/* A text in short; NULL: "none". */
static const char *checksum_of(const char *text, char sum[9])
{
    snprintf(sum, 9, "none");
    if (text)
        snprintf(sum, 9, "%08x", (unsigned)checksum_add(0, text, strlen(text)));
    return sum;
}

/* Every option that changes what is computed, and the data. NULL: no memory. */
static json_t *identity_of(const resolved *s, const source *data, const gr_module *net)
{
    char model[9];
    json_t *all = json_pack("{s:s, s:o, s:s, s:s, s:s, s:f}", "recipe", s->recipe->name, "data", json_plain(data->name),
                            "data hash", data->hash, "model text", checksum_of(gr_model_text(net), model), "optimizer",
                            s->optimizer->name, "learning rate", s->lr);
    json_t *texts = json_object(), *value;
    const char *key;
    bool good = all && texts;
    if (good) {
        options_json(settings_cell(), &s->asked, all);
        options_json(settings_batches, &s->asked, all);
        options_json(settings_protocol, &s->asked, all);
        options_json(parameter_options(), s->asked.parameters, all);
    }
    json_object_foreach(all, key, value)
    {
        good = good && put(texts, key, value);
    }
    json_decref(all);
    if (good)
        return texts;
    json_decref(texts);
    return NULL;
}

int checkpoints_open(checkpoints *c, const resolved *s, const source *data, const gr_module *net, const char *command)
{
    const settings *asked = &s->asked;
    *c = (checkpoints){.identity = identity_of(s, data, net)};
    c->settings = c->identity ? calloc(json_object_size(c->identity), sizeof *c->settings) : NULL;
    if (!c->settings)
        return complain(GR_NO_MEMORY, command, "out of host memory for what checkpoints are known by");
    const char *key;
    json_t *value;
    int n = 0;
    json_object_foreach(c->identity, key, value)
    {
        c->settings[n++] = (gr_setting){key, json_string_value(value)};
    }
    c->options = (gr_checkpoints){.folder = asked->checkpoint,
                                  .keep = (int)asked->keep,
                                  .no_epochs = asked->no_epoch_checkpoints,
                                  .resume = asked->resume,
                                  .settings = c->settings,
                                  .n_settings = n};
    if (!asked->checkpoint)
        return 0;
    if (asked->checkpoint_every)
        read_interval(asked->checkpoint_every, &c->options.every, &c->options.every_seconds);
    return folder_make(asked->checkpoint, command);
}

void checkpoints_close(checkpoints *c)
{
    json_decref(c->identity);
    free(c->settings);
}
