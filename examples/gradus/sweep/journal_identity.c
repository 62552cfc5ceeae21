/* journal_identity.c - see journal_identity.h. */
#include "sweep/journal_identity.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/checksum.h"
#include "terminal/json_memory.h"
#include "terminal/output.h"
#include "terminal/system.h"
#include "train/row.h"

const char *journal_path(const journal *j, const char *name, char path[JOURNAL_PATH])
{
    snprintf(path, JOURNAL_PATH, "%s/%s", j->folder, name);
    return path;
}

/* A setting's value as JSON, to be freed; nothing and null are what nobody has set. */
static char *value_text(const json_t *value)
{
    return value && !json_is_null(value) ? json_text(value, JSON_ENCODE_ANY | ROW_FORMAT) : NULL;
}

/* "lr was 0.01, now it is 0.02" behind what text holds. */
static void add_difference(char *text, size_t size, const char *key, const json_t *values[2],
                           const char *const words[2])
{
    char *one = value_text(values[0]), *other = value_text(values[1]);
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s %s %s, %s %s", used ? "; " : "", key, words[0], one ? one : "not set",
             words[1], other ? other : "not set");
    free(one);
    free(other);
}

bool identity_differs(const json_t *before, json_t *now, const char *const words[2], char text[IDENTITY_TEXT])
{
    const char *key;
    json_t *value;
    *text = '\0';
    json_object_foreach(now, key, value)
    {
        const json_t *was = json_object_get(before, key);
        if (was ? !json_equal(value, was) : !json_is_null(value)) /* an option that is new since then was not given */
            add_difference(text, IDENTITY_TEXT, key, (const json_t *[]){was, value}, words);
    }
    return *text;
}

static int compare_identity(const journal *j, const json_t *before, json_t *now)
{
    char differences[IDENTITY_TEXT];
    return identity_differs(before, now, (const char *const[]){"was", "now it is"}, differences)
               ? complain(GR_USAGE, "sweep",
                          "%s holds a sweep with other settings: %s. Repeat the earlier command to continue it, or "
                          "choose another --out",
                          j->folder, differences)
               : 0;
}

int journal_compare(const journal *j, json_t *identity)
{
    char path[JOURNAL_PATH];
    json_fault why;
    json_t *before = json_read(journal_path(j, "sweep.json", path), &why);
    if (!before)
        return complain(why.code, "sweep", "%s, line %d: %s; choose another --out", path, why.line, why.text);
    const int code = compare_identity(j, before, identity);
    json_decref(before);
    return code;
}

int journal_check_identity(const journal *j, json_t *identity, json_t *notes)
{
    char path[JOURNAL_PATH], rows[JOURNAL_PATH];
    if (mode_of(journal_path(j, "sweep.json", path)))
        return journal_compare(j, identity);
    if (mode_of(journal_path(j, "results.jsonl", rows)))
        return complain(GR_BAD_DATA, "sweep", "%s has no sweep.json beside it; choose another --out", rows);
    output out;
    int code = output_open(&out, path, "sweep");
    if (code)
        return code;
    json_t *all = json_copy(identity);
    json_object_update(all, notes);
    json_dumpf(all, out.file, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15));
    json_decref(all);
    fputc('\n', out.file);
    if (!json_memory_failed())
        return output_commit(&out, "sweep");
    output_drop(&out);
    return complain(GR_NO_MEMORY, "sweep", "out of host memory for %s", path);
}

/*
 * What the sweep was when it began, a new reference: an option that is new since then has no part in the checksum of
 * its rows. Returns 0 or an exit code, complained of.
 */
static int as_it_began(const journal *j, json_t *identity, json_t **of)
{
    char path[JOURNAL_PATH];
    json_fault why;
    json_t *before = json_read(journal_path(j, "sweep.json", path), &why), *value;
    const char *key;
    if (!before && why.code != GR_BAD_DATA)
        return complain(why.code, "sweep", "%s: %s", path, why.text);
    json_t *began = *of = json_object();
    json_object_foreach(identity, key, value)
    {
        if (json_object_get(before, key))
            json_object_set(began, key, value);
    }
    json_decref(before);
    return 0;
}

int journal_sum_identity(journal *j, json_t *identity)
{
    json_t *began = NULL;
    const int code = as_it_began(j, identity, &began);
    if (code)
        return code;
    char *text = json_text(began, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
    json_decref(began);
    if (!text)
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for what the sweep is");
    snprintf(j->sweep, sizeof j->sweep, "%08x", (unsigned)checksum_add(0, text, strlen(text)));
    free(text);
    return 0;
}
