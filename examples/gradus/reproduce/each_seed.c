/* each_seed.c - see each_seed.h. */
#include "reproduce/each_seed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sweep/cell.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/stop.h"
#include "train/row.h"

enum { MOST_WORDS = 96, WORD = 2400, COMMAND = 4096 };

/* --- words -------------------------------------------------------------------------------------------------------- */

/* A command line, its words allocated. */
typedef struct {
    char *argv[MOST_WORDS + 1];
    int argc;
    bool lost; /* there was no memory for one */
} words;

static void add(words *w, const char *word)
{
    w->argv[w->argc] = w->argc < MOST_WORDS ? strdup(word) : NULL;
    w->lost = w->lost || !w->argv[w->argc];
    w->argc += w->argv[w->argc] != NULL;
}

static void free_words(words *w)
{
    for (int i = 0; i < w->argc; i++)
        free(w->argv[i]);
}

/* Words of the arm, {out} and {seed} replaced, behind used characters of text. Returns how many there are then. */
static size_t expand(const char *word, size_t length, const char *out, const char *seed, char *text, size_t size,
                     size_t used)
{
    const char *const names[] = {"{out}", "{seed}"}, *const values[] = {out, seed};
    for (size_t at = 0; at < length;) {
        int which = -1;
        for (int i = 0; i < 2; i++)
            which = strncmp(word + at, names[i], strlen(names[i])) == 0 ? i : which;
        const char *put = which < 0 ? word + at : values[which];
        const size_t n = which < 0 ? 1 : strlen(put);
        used += (size_t)snprintf(text + used, size - used, "%.*s", (int)n, put);
        used = used < size ? used : size - 1;
        at += which < 0 ? 1 : strlen(names[which]);
    }
    return used;
}

bool each_seed_is(const arm *a)
{
    return strstr(a->words, "{seed}") != NULL;
}

void each_seed_text(const arm *a, const char *out, int64_t seed, char *text, size_t size)
{
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)seed);
    text[0] = '\0';
    expand(a->words, strlen(a->words), out, number, text, size, 0);
}

/* What is asked beyond the arm's words and the machine: " --updates 2 --device ref". */
static const char *more_words(const arm *a, const reproduce_asks *asks, char text[64])
{
    const choice device = asks->shared.device;
    text[0] = '\0';
    if (asks->updates && strncmp(a->words, "train ", strlen("train ")) == 0)
        snprintf(text, 64, " --updates %lld", (long long)asks->updates);
    if (device.given)
        snprintf(text + strlen(text), 64 - strlen(text), " --device %s", device_names[device.value]);
    return text;
}

/* The command line for a seed. False: no memory. */
static bool make_words(words *w, const arm *a, const reproduce_asks *asks, int64_t seed)
{
    char number[24], word[WORD], more[64], *rest;
    *w = (words){0};
    snprintf(number, sizeof number, "%lld", (long long)seed);
    add(w, "gradus");
    for (const char *at = a->words; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        expand(at, length, asks->out, number, word, sizeof word, 0);
        add(w, word);
        at += length;
    }
    add(w, "--json");
    w->lost = w->lost || !options_unparse(settings_machine, &asks->shared, w->argv, &w->argc, MOST_WORDS);
    more_words(a, asks, more);
    for (char *next = strtok_r(more, " ", &rest); next; next = strtok_r(NULL, " ", &rest))
        add(w, next);
    w->argv[w->argc] = NULL;
    return !w->lost;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

static const char *rows_path(const char *folder, char path[WORD])
{
    snprintf(path, WORD, "%s/rows.jsonl", folder);
    return path;
}

/* Appends the rows of a line: itself, or those that it has. */
static void take_rows(const json_t *line, json_t *rows)
{
    static const char *const shared[] = {"seed", "state", "command", "trial"};
    const json_t *list = json_object_get(line, "rows");
    json_t *one;
    size_t i;
    if (!json_is_array(list))
        json_array_append_new(rows, json_copy((json_t *)line));
    json_array_foreach(list, i, one)
    {
        json_t *row = json_copy(one);
        for (int k = 0; k < 4; k++)
            json_object_set(row, shared[k], json_object_get(line, shared[k]));
        json_array_append_new(rows, row);
    }
}

/* Cuts off what stands behind the last line end. Returns 0 or an exit code, complained of. */
static int cut(const char *path, off_t whole)
{
    fprintf(stderr, "%s: the last line was cut short when its writer was killed; its seed runs again\n", path);
    const int file = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    const bool good = file >= 0 && ftruncate(file, whole) == 0 && fsync(file) == 0;
    const int code = good ? 0 : complain_of_file(path, "cannot be written", "reproduce");
    if (file >= 0)
        close(file);
    return code;
}

int each_seed_read(const char *folder, json_t *rows, bool mend)
{
    char path[WORD], *text = NULL;
    size_t size = 0;
    ssize_t length = 0;
    off_t whole = 0;
    int code = 0;
    FILE *f = fopen(rows_path(folder, path), "r");
    if (!f)
        return errno == ENOENT ? 0 : complain_of_file(path, "cannot be read", "reproduce");
    for (int number = 1; code == 0 && (length = getline(&text, &size, f)) > 0 && text[length - 1] == '\n'; number++) {
        whole += length;
        json_t *line = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        if (json_is_object(line))
            take_rows(line, rows);
        else
            code = complain(GR_BAD_DATA, "reproduce",
                            "%s, line %d is damaged; delete the line, and its seed runs again", path, number);
        json_decref(line);
    }
    if (code == 0 && !feof(f)) /* nor was there memory for a line */
        code = complain_of_file(path, "cannot be read", "reproduce");
    free(text);
    fclose(f);
    return code == 0 && length > 0 && mend ? cut(path, whole) : code;
}

/* Appends a line to the file and syncs it. Returns 0 or an exit code, complained of. */
static int keep(const char *folder, const json_t *line)
{
    char path[WORD], *text = json_text(line, ROW_FORMAT);
    if (!text)
        return complain(GR_NO_MEMORY, "reproduce", "out of host memory for a row");
    const int file = open(rows_path(folder, path), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool good = file >= 0 && dprintf(file, "%s\n", text) == (int)strlen(text) + 1 && fsync(file) == 0;
    const int code = good ? 0 : complain_of_file(path, "cannot be written", "reproduce");
    if (file >= 0)
        close(file);
    free(text);
    return code;
}

/* Whether rows have one of a seed; *other: one of them is of another command. */
static bool has(const json_t *rows, int64_t seed, const char *command, const char **other)
{
    bool found = false;
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        found = found || json_integer_value(json_object_get(row, "seed")) == seed;
        if (strcmp(text_at(row, "command"), command) != 0)
            *other = text_at(row, "command");
    }
    return found;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

static void on_told(void *user, const char *line)
{
    progress_bar(user, "", 0, line);
}

/* Runs it for a seed; *line becomes what it printed last. Returns 0 or an exit code, complained of. */
static int run(const arm *a, const reproduce_asks *asks, int64_t seed, json_t **line)
{
    words w;
    progress p = progress_open();
    cell_process process = {.told = on_told, .user = &p};
    *line = NULL;
    const bool good = make_words(&w, a, asks, seed), started = good && cell_start(&process, w.argv);
    free_words(&w);
    if (!started)
        return good ? GR_IO_ERROR : complain(GR_NO_MEMORY, "reproduce", "out of host memory for the words");
    while (cells_listen((cell_process *const[]){&process}, 1) < 0)
        continue;
    const cell_end end = cell_reap(&process);
    progress_clear(&p);
    if (end.code == 0 && !end.signal && end.result)
        *line = json_loads(end.result, JSON_REJECT_DUPLICATES, NULL);
    free(end.result);
    if (json_is_object(*line))
        return 0;
    json_decref(*line);
    if (stop_asked())
        return GR_STOPPED;
    if (end.lost)
        return complain(GR_NO_MEMORY, "reproduce", "out of host memory for what %s, seed %lld, told", a->folder,
                        (long long)seed);
    return complain(end.code ? (gr_code)end.code : GR_DEVICE_FAULT, "reproduce", "%s, seed %lld: %s", a->folder,
                    (long long)seed,
                    end.signal     ? "killed by a signal"
                    : *end.trouble ? end.trouble
                                   : "it told nothing");
}

/* Runs it for a seed and puts down its row. Returns 0 or an exit code, complained of. */
static int add_seed(const arm *a, const reproduce_asks *asks, int64_t seed, const char *folder, const char *command)
{
    json_t *line;
    fprintf(stderr, "%s, seed %lld\n", a->folder, (long long)seed);
    int code = run(a, asks, seed, &line);
    if (code)
        return code;
    json_object_set_new(line, "seed", json_integer(seed));
    json_object_set_new(line, "state", json_string("done"));
    json_object_set_new(line, "command", json_string(command));
    json_object_set_new(line, "trial", json_boolean(asks->updates || asks->shared.procedural));
    code = keep(folder, line);
    json_decref(line);
    return code;
}

int each_seed_do(const experiment *e, const arm *a, const reproduce_asks *asks)
{
    char folder[WORD - 16], command[COMMAND], more[64];
    const char *other = NULL;
    const int64_t seeds = asks->seeds ? asks->seeds : e->seeds;
    journal j = {.lock = -1, .file = -1};
    json_t *rows = json_array();
    int missing = 0;
    snprintf(folder, sizeof folder, "%s/%s", asks->out, a->folder);
    snprintf(command, sizeof command, "%s%s%s", a->words, asks->shared.procedural ? " --procedural" : "",
             more_words(a, asks, more));
    stop_catch();
    int code = asks->dry_run ? 0 : journal_lock(&j, folder);
    if (code == 0)
        code = each_seed_read(folder, rows, !asks->dry_run);
    stop_at_next_chance();
    for (int64_t seed = 1; code == 0 && seed <= seeds; seed++) {
        const bool there = has(rows, seed, command, &other);
        missing += !there;
        if (other)
            code = complain(GR_USAGE, "reproduce", "%s holds runs of \"%s\", not of \"%s\"; choose another --out",
                            folder, other, command);
        else if (!there && !asks->dry_run)
            code = stop_asked() ? GR_STOPPED : add_seed(a, asks, seed, folder, command);
    }
    if (code == 0 && asks->dry_run)
        printf("%s: %lld run%s, %d to run\n", folder, (long long)seeds, seeds == 1 ? "" : "s", missing);
    json_decref(rows);
    if (!asks->dry_run)
        journal_close(&j);
    return code;
}
