/* status.c - see status.h. */
#include "sweep/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "terminal/json_values.h"
#include "terminal/system.h"

enum { PATH_SIZE = 3072 };

static const double BEAT = 10; /* seconds */

static json_t *status_json(const status *s, const char *state)
{
    char now[32], host[256] = "";
    json_t *cells = json_array();
    gethostname(host, sizeof host - 1);
    for (int i = 0; i < s->n; i++) {
        const status_cell *c = s->at_work[i];
        json_array_append_new(cells, json_pack("{s:s, s:i, s:s, s:s}", "cell", c->words, "pid", c->pid, "began",
                                               c->began, "heard", c->heard));
    }
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:o}", "state", state, "heartbeat", now_text(now), "host", host,
                     "pid", (int)getpid(), "finished", s->finished, "cells", s->cells, "at_work", cells);
}

/* Not through output.h: nothing is lost with it, so nothing waits for the disk, and nothing is said of failure. */
void status_write(status *s, const char *state)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8];
    if (!s->folder)
        return;
    s->written = now_seconds();
    snprintf(path, sizeof path, "%s/status.json", s->folder);
    snprintf(temporary, sizeof temporary, "%s.next", path);
    unlink(temporary); /* of a sweep that was killed; a link in its place would lead elsewhere */
    const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    json_t *o = status_json(s, state);
    bool good = json_dumpf(o, f, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0 && fputc('\n', f) != EOF;
    json_decref(o);
    good = fclose(f) == 0 && good;
    if (!good || rename(temporary, path) != 0)
        unlink(temporary);
}

void status_begin(status *s, status_cell *c)
{
    now_text(c->began);
    status_heard(c);
    s->at_work[s->n++] = c;
    status_write(s, "RUNNING");
}

void status_heard(status_cell *c)
{
    now_text(c->heard);
}

void status_end(status *s, status_cell *c)
{
    int kept = 0;
    for (int i = 0; i < s->n; i++)
        if (s->at_work[i] != c)
            s->at_work[kept++] = s->at_work[i];
    s->n = kept;
}

void status_beat(status *s)
{
    if (now_seconds() - s->written >= BEAT)
        status_write(s, "RUNNING");
}

/* Whether a sweep holds the folder's lock. */
static bool is_at_work(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/sweep.lock", folder);
    const int lock = open(path, O_RDONLY | O_CLOEXEC);
    const bool busy = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (lock >= 0)
        close(lock);
    return busy;
}

status_seen status_read(const char *folder)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/status.json", folder);
    json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, NULL), *cell;
    struct stat file;
    size_t i;
    status_seen seen = {.at_work = json_array()};
    if (strcmp(text_at(o, "state"), "RUNNING") == 0) {
        json_array_foreach(json_object_get(o, "at_work"), i, cell)
        {
            json_array_append_new(seen.at_work, json_string(text_at(cell, "cell")));
        }
        seen.lives = is_at_work(folder);
        seen.silent = stat(path, &file) == 0 ? difftime(time(NULL), file.st_mtime) : 0;
        snprintf(seen.who, sizeof seen.who, "process %lld on %s",
                 (long long)json_integer_value(json_object_get(o, "pid")), text_at(o, "host"));
    }
    json_decref(o);
    return seen;
}
