/* journal.c - see journal.h. */
#include "sweep/journal_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "terminal/checksum.h"
#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/output.h"
#include "terminal/system.h"
#include "train/row.h"

static int io_error(const char *path, const char *what)
{
    return complain_of_file(path, what, "sweep");
}

/* --- the lock ----------------------------------------------------------------------------------------------------- */

/* How long a sweep waits for one that holds the folder: killed just now it does so until the system is done with it. */
enum { LOCK_ATTEMPTS = 250, NANOSECONDS_BETWEEN = 20 * 1000 * 1000 };

/*
 * Takes the lock if it is nobody's. Returns 0 or errno: EWOULDBLOCK where another sweep has it, ENOENT where one that
 * came to nothing took its file away in between. Who holds a file that has no name any more keeps nobody out.
 */
static int try_lock(journal *j, const char *path)
{
    struct stat held, named;
    j->fresh = mode_of(path) == 0;
    j->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (j->lock < 0)
        return errno;
    int why = 0;
    if (flock(j->lock, LOCK_EX | LOCK_NB) != 0 || fstat(j->lock, &held) != 0 || lstat(path, &named) != 0)
        why = errno;
    else if (held.st_dev != named.st_dev || held.st_ino != named.st_ino)
        why = ENOENT;
    if (why) {
        close(j->lock);
        j->lock = -1;
    }
    return why;
}

int journal_lock(journal *j, const char *folder)
{
    char path[JOURNAL_PATH];
    int why = EWOULDBLOCK;
    *j = (journal){.folder = folder, .lock = -1, .file = -1, .rows = json_array()};
    journal_path(j, "sweep.lock", path);
    for (int i = 0; i < LOCK_ATTEMPTS && (why == EWOULDBLOCK || why == ENOENT); i++) {
        if (i > 0)
            nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS_BETWEEN}, NULL);
        const int code = folder_make(folder, "sweep");
        if (code)
            return code;
        why = try_lock(j, path);
    }
    if (why == EWOULDBLOCK)
        return complain(GR_IO_ERROR, "sweep", "another sweep is at work in %s; wait for it or choose another --out",
                        folder);
    errno = why;
    return why ? io_error(path, "cannot be written and locked") : 0;
}

void journal_close(journal *j)
{
    char path[JOURNAL_PATH];
    if (j->lock >= 0 && j->file < 0 && j->fresh) { /* never got to results: leave things as they were */
        unlink(journal_path(j, "sweep.lock", path));
        rmdir(j->folder);
    }
    if (j->file >= 0)
        close(j->file);
    if (j->lock >= 0)
        close(j->lock);
    json_decref(j->rows);
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* The whole file as text. NULL: complained of, and *code is set. */
static char *read_all(int file, const char *path, off_t *size, int *code)
{
    *size = lseek(file, 0, SEEK_END);
    char *text = *size >= 0 ? malloc((size_t)*size + 1) : NULL;
    for (off_t done = 0; text && done < *size;) {
        ssize_t n = pread(file, text + done, (size_t)(*size - done), done);
        if (n <= 0) {
            free(text); /* leaves errno as it is */
            text = NULL;
        } else {
            done += n;
        }
    }
    if (text)
        text[*size] = '\0';
    else
        *code = io_error(path, "cannot be read");
    return text;
}

/* What stands at the end of a line, behind all that it is the checksum of. */
enum { CHECK = sizeof ",\"check\":\"01234567\"}" - 1 };

static void write_check(char text[CHECK + 1], const char *line, size_t length)
{
    snprintf(text, CHECK + 1, ",\"check\":\"%08x\"}", (unsigned)checksum_add(0, line, length));
}

static bool check_is_right(const char *line, size_t length)
{
    char text[CHECK + 1];
    if (length < CHECK)
        return false;
    write_check(text, line, length - CHECK);
    return memcmp(line + length - CHECK, text, CHECK) == 0;
}

/* Why a row is not one of this sweep's; NULL: it is. */
static const char *fault_of(const journal *j, const json_t *row)
{
    if (strcmp(text_at(row, "sweep"), j->sweep) != 0)
        return "is of a sweep with other settings or data; delete the line, and its cell runs again";
    if (strcmp(text_at(row, "state"), "done") == 0 && !json_is_number(json_object_get(row, "test_accuracy")))
        return "says that its cell is done, and no test_accuracy; delete the line, and its cell runs again";
    return NULL;
}

/* Earlier versions wrote the values of a variant in the order of the command line. */
static void order_variant(json_t *row)
{
    char text[VARIANT_NAME];
    const char *variant = text_at(row, "variant"), *ordered = axes_ordered(variant, text);
    if (*variant && strcmp(variant, ordered) != 0)
        json_object_set_new(row, "variant", json_string(ordered));
}

static int add_row(journal *j, const char *line, size_t length, const char *path, int number)
{
    json_error_t why;
    json_t *row = json_loadb(line, length, JSON_REJECT_DUPLICATES, &why);
    if (json_memory_failed()) {
        json_decref(row);
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for %s", path);
    }
    if (!json_is_object(row) || !check_is_right(line, length)) {
        const char *fault = !row                   ? why.text
                            : !json_is_object(row) ? "not an object"
                                                   : "its checksum is of another line";
        const int code = complain(GR_BAD_DATA, "sweep",
                                  "%s, line %d is damaged: %s; delete the line, and its cell runs again, or choose "
                                  "another --out",
                                  path, number, fault);
        json_decref(row);
        return code;
    }
    json_array_append_new(j->rows, row);
    order_variant(row);
    const char *fault = fault_of(j, row);
    json_object_del(row, "sweep"); /* of the line and its folder, not of the run */
    json_object_del(row, "check");
    return fault ? complain(GR_BAD_DATA, "sweep", "%s, line %d %s", path, number, fault) : 0;
}

/* Reads every whole line; what stands behind the last line end was being written when the sweep was killed. */
static int read_rows(journal *j, const char *path)
{
    off_t size;
    int code = 0;
    char *text = read_all(j->file, path, &size, &code), *line = text;
    if (!text)
        return code;
    off_t whole = 0; /* bytes up to the last line end */
    for (int number = 1; code == 0; number++) {
        char *end = memchr(line, '\n', (size_t)(size - whole));
        if (!end)
            break;
        code = add_row(j, line, (size_t)(end - line), path, number);
        line = end + 1;
        whole = line - text;
    }
    free(text);
    if (code || whole == size || j->lock < 0) /* nobody's to mend who does not hold the lock */
        return code;
    fprintf(stderr, "%s: the last line was cut short when the sweep was killed; its cell runs again\n", path);
    return ftruncate(j->file, whole) == 0 && fsync(j->file) == 0 ? 0 : io_error(path, "cannot be written");
}

int journal_open(journal *j, json_t *identity, json_t *notes)
{
    char path[JOURNAL_PATH];
    int code = journal_check_identity(j, identity, notes);
    if (code == 0)
        code = journal_sum_identity(j, identity);
    if (code)
        return code;
    j->file = open(journal_path(j, "results.jsonl", path), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    return j->file < 0 ? io_error(path, "cannot be written") : read_rows(j, path);
}

int journal_read(journal *j, const char *folder, json_t *identity)
{
    char path[JOURNAL_PATH];
    *j = (journal){.folder = folder, .lock = -1, .file = -1, .rows = json_array()};
    int code = journal_sum_identity(j, identity);
    if (code)
        return code;
    j->file = open(journal_path(j, "results.jsonl", path), O_RDONLY | O_CLOEXEC);
    if (j->file < 0)
        return io_error(path, "cannot be read");
    code = read_rows(j, path);
    close(j->file);
    j->file = -1;
    return code;
}

json_t *journal_find(const journal *j, const cell *c)
{
    char variant[VARIANT_NAME];
    cell_variant(c, variant);
    for (size_t i = json_array_size(j->rows); i-- > 0;) {
        json_t *row = json_array_get(j->rows, i);
        if (json_integer_value(json_object_get(row, "batch")) == c->batch &&
            json_integer_value(json_object_get(row, "seed")) == c->seed &&
            strcmp(text_at(row, "optimizer"), c->optimizer->name) == 0 && strcmp(text_at(row, "variant"), variant) == 0)
            return row;
    }
    return NULL;
}

bool journal_lacks(const journal *j, const cell *c)
{
    const json_t *row = journal_find(j, c);
    const char *state = text_at(row, "state");
    if (strcmp(state, "timed out") == 0)
        return j->time_limit == 0 || j->time_limit > json_integer_value(json_object_get(row, "time_limit"));
    return !*state || strcmp(state, "failed") == 0 || strcmp(state, "stopped") == 0;
}

/* What is written must still stand under its name: a folder that is removed or renamed takes its rows along. */
static int check_place(const journal *j, const char *path)
{
    struct stat open_file, named = {.st_ino = 0};
    if (fstat(j->file, &open_file) != 0 || (stat(path, &named) != 0 && errno != ENOENT && errno != ENOTDIR))
        return io_error(path, "cannot be looked at");
    if (open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino)
        return 0;
    return complain(GR_IO_ERROR, "sweep", "%s was removed or renamed while the sweep was running", path);
}

/* A row as a line, its checksum at its end. NULL: no memory. */
static char *line_of(const journal *j, json_t *row, size_t *length)
{
    json_object_set_new(row, "sweep", json_string(j->sweep));
    char *text = json_text(row, ROW_FORMAT);
    json_object_del(row, "sweep");
    char *line = text && !json_memory_failed() ? realloc(text, strlen(text) + CHECK + 2) : NULL;
    if (!line) {
        free(text);
        return NULL;
    }
    *length = strlen(line) - 1; /* without the last brace, which comes behind the checksum */
    write_check(line + *length, line, *length);
    *length += CHECK;
    line[(*length)++] = '\n'; /* in place of the end of the string */
    return line;
}

int journal_append(journal *j, json_t *row)
{
    char path[JOURNAL_PATH];
    size_t length, done = 0;
    char *line = line_of(j, row, &length);
    if (!line) {
        json_decref(row);
        return complain(GR_NO_MEMORY, "sweep", "out of host memory for a row; the same command runs its cell again");
    }
    bool good = true;
    while (good && done < length) {
        ssize_t n = write(j->file, line + done, length - done);
        good = n > 0 || (n < 0 && errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
    good = good && fsync(j->file) == 0;
    free(line);
    json_array_append_new(j->rows, row);
    journal_path(j, "results.jsonl", path);
    return good ? check_place(j, path) : io_error(path, "cannot be written");
}
