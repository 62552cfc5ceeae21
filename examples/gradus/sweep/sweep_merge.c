/* sweep_merge.c - gradus sweep merge: the folders of shards, or of sweeps of one protocol, as one. */
#include <string.h>

#include "commands.h"
#include "sweep/folder.h"
#include "sweep/journal_identity.h"
#include "sweep/outcome.h"
#include "sweep/sweep.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

enum { MAX_FOLDERS = 64 };

typedef struct {
    const char *out;
    bool json;
} merge_asks;

static int64_t integer_of(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

/* A cell that failed is lacking however often its row is merged: it comes in once. */
static bool has_row(const journal *j, const json_t *row)
{
    for (size_t i = 0; i < json_array_size(j->rows); i++)
        if (json_equal(json_array_get(j->rows, i), row))
            return true;
    return false;
}

/* Appends what the folder has and into lacks: rows of cells that it has none of, or that did not get done there. */
static int take_rows(journal *into, const journal *from)
{
    size_t i;
    json_t *row;
    int code = 0;
    json_array_foreach(from->rows, i, row)
    {
        const int place = name_find((name_list)NAMES(optimizers), text_at(row, "optimizer"));
        if (place < 0)
            return complain(GR_BAD_DATA, "sweep merge", "%s has a row of an optimizer \"%s\" that is not known",
                            from->folder, text_at(row, "optimizer"));
        axes alone = {0}; /* the variant of this row and no other */
        code = code ? code : axes_add(&alone, text_at(row, "variant"));
        const cell c = {&optimizers[place], integer_of(row, "batch"), integer_of(row, "seed"), &alone, 0};
        if (code == 0 && row == journal_find(from, &c) && journal_lacks(into, &c) && !has_row(into, row))
            code = journal_append(into, json_incref(row));
    }
    return code;
}

/* What the folders are so far, to check further ones against. */
typedef struct {
    const char *first; /* of the folders; its identity */
    json_t *identity;
    json_t *texts; /* of each model in a list a checksum, and the first folder that had it: {"a.txt": ["1f", "s1"]} */
} seen_folders;

/* Whether runs of one model are of one network in all folders. Returns 0 or an exit code, complained of. */
static int check_models(seen_folders *seen, const journal *j)
{
    size_t i;
    json_t *row;
    json_array_foreach(j->rows, i, row)
    {
        const char *model = text_at(row, "model"), *text = text_at(row, MODEL_TEXT);
        const json_t *before = json_object_get(seen->texts, model);
        if (*text && !before)
            json_object_set_new(seen->texts, model, json_pack("[s, s]", text, j->folder));
        else if (*text && strcmp(text, json_string_value(json_array_get(before, 0))) != 0)
            return complain(GR_USAGE, "sweep merge",
                            "%s and %s hold runs of two networks that are both called %s: the file was changed in "
                            "between. 'gradus compare' sets such sweeps against each other",
                            json_string_value(json_array_get(before, 1)), j->folder, model);
    }
    return 0;
}

/* Whether a folder is of the protocol of the first. Returns 0 or an exit code, complained of. */
static int check_protocol(const seen_folders *seen, json_t *identity, const char *folder)
{
    char differences[IDENTITY_TEXT], words[2][512];
    snprintf(words[0], sizeof words[0], "in %s is", seen->first);
    snprintf(words[1], sizeof words[1], "in %s", folder);
    if (!identity_differs(seen->identity, identity, (const char *const[]){words[0], words[1]}, differences))
        return 0;
    return complain(GR_USAGE, "sweep merge",
                    "%s and %s are sweeps with different settings: %s. 'gradus compare' sets "
                    "such sweeps against each other",
                    seen->first, folder, differences);
}

/* A folder against those before it, unless what it is is compared elsewhere. Returns 0 or an exit code. */
static int check_folder(seen_folders *seen, const char *folder, bool models_alone)
{
    json_t *identity = NULL;
    journal j = {0};
    int code = folder_identity(folder, "sweep merge", &identity, NULL);
    if (code == 0 && !models_alone && seen->first)
        code = check_protocol(seen, identity, folder);
    if (code == 0)
        code = journal_read(&j, folder, identity);
    if (code == 0)
        code = check_models(seen, &j);
    if (!models_alone && !seen->first) {
        seen->first = folder;
        seen->identity = json_incref(identity);
    }
    json_decref(j.rows);
    json_decref(identity);
    return code;
}

/* Whether all folders, and what is in out already, are of one protocol. Returns 0 or an exit code, complained of. */
static int check_folders(const char *const *folders, const char *out)
{
    char merged[JOURNAL_PATH];
    seen_folders seen = {.texts = json_object()};
    int code = 0;
    for (int i = 0; code == 0 && folders[i]; i++)
        code = check_folder(&seen, folders[i], false);
    if (code == 0 && is_readable_file(journal_path(&(journal){.folder = out}, "results.jsonl", merged)))
        code = check_folder(&seen, out, true);
    json_decref(seen.identity);
    json_decref(seen.texts);
    return code;
}

/* One more folder into the journal, which the first one opens. Returns 0 or an exit code, complained of. */
static int merge_folder(journal *into, const char *folder)
{
    json_t *notes = NULL, *identity;
    journal from = {0};
    int code = folder_identity(folder, "sweep merge", &identity, &notes);
    if (code == 0)
        code = journal_read(&from, folder, identity);
    if (code == 0)
        code = into->file < 0 ? journal_open(into, identity, notes) : journal_compare(into, identity);
    if (code == 0)
        code = take_rows(into, &from);
    json_decref(from.rows);
    json_decref(identity);
    json_decref(notes);
    return code;
}

/* The tables and the picture of what is there now. */
static int tell_merged(sweep *w)
{
    json_t *identity;
    int code = folder_identity(w->asked.out, "sweep merge", &identity, NULL);
    w->recipe = code ? NULL : recipe_find(text_at(identity, "recipe"), "sweep merge");
    w->data = text_at(identity, "data");
    w->estimate.test = integer_of(identity, "test_samples");
    const bool listed = json_is_string(json_object_get(identity, "updates")); /* "varies" */
    w->asked.shared.updates = listed ? 1 : integer_of(identity, "updates");
    w->asked.shared.budget = json_string_value(json_object_get(identity, "budget"));
    w->asked.shared.batch_schedule = json_string_value(json_object_get(identity, "batch-schedule"));
    if (code == 0)
        code = w->recipe ? folder_grid(&w->journal, "sweep merge", &w->axes, &w->grid) : GR_USAGE;
    if (code == 0)
        code = sweep_tell(w);
    json_decref(identity);
    return code;
}

static int run_merge(int argc, char **argv)
{
    merge_asks asks = {0};
    const char *folders[MAX_FOLDERS + 1] = {NULL};
    options_end end = options_parse(&sweep_merge_command, &asks, argc, argv, folders);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (!folders[0] || !asks.out)
        return complain(GR_USAGE, "sweep merge", "%s", asks.out ? "which folders?" : "--out: into which folder?");
    sweep w = {.asked = {.out = asks.out, .json = asks.json}};
    int code = check_folders(folders, asks.out); /* before anything is written */
    if (code == 0)
        code = journal_lock(&w.journal, asks.out);
    for (int i = 0; code == 0 && folders[i]; i++)
        code = merge_folder(&w.journal, folders[i]);
    if (code == 0)
        code = tell_merged(&w);
    journal_close(&w.journal);
    return code;
}

static const option merge_options[] = {
    TEXT_OPTION("out", "FOLDER", offsetof(merge_asks, out), "where all rows go; what it has already stays"),
    FLAG_OPTION("json", offsetof(merge_asks, json), "print the table as one line of JSON"),
    {0},
};

static const option_group groups[] = {{"Options", merge_options, NULL, 0}, {0}};

const gradus_command sweep_merge_command = {
    .name = "sweep merge",
    .purpose = "the folders of a sweep's shards as one",
    .usage = "sweep merge FOLDER... --out FOLDER [options]",
    .operand = "FOLDER",
    .operands = MAX_FOLDERS,
    .about = "Put the rows of several folders of one sweep into another folder, and make the table and the picture of "
             "all of them. The folders must be of the same recipe, data and protocol. A cell that several of them have "
             "is taken once, from the first that has it done.",
    .examples = "sweep merge shard1 shard2 shard3 --out whole",
    .groups = groups,
    .run = run_merge,
};
