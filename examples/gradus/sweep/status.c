/* status.c - see status.h. */
#include "sweep/status.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "terminal/json_values.h"
#include "terminal/system.h"

enum { PATH_SIZE = 3072 };

static const double BEAT = 10; /* seconds */

/* Not through output.h: nothing is lost with it, so nothing waits for the disk, and nothing is said of failure. */
void status_write(status *s, const char *state)
{
    char path[PATH_SIZE], temporary[PATH_SIZE + 8], now[32];
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
    json_t *o = json_pack("{s:s, s:s, s:i, s:i, s:i, s:s?, s:s?}", "state", state, "heartbeat", now_text(now), "pid",
                          (int)getpid(), "finished", s->finished, "cells", s->cells, "cell", s->cell, "began",
                          s->cell ? s->began : NULL);
    bool good = json_dumpf(o, f, JSON_INDENT(2) | JSON_PRESERVE_ORDER) == 0 && fputc('\n', f) != EOF;
    json_decref(o);
    good = fclose(f) == 0 && good;
    if (!good || rename(temporary, path) != 0)
        unlink(temporary);
}

void status_begin(status *s, const char *cell, int finished, int cells)
{
    s->cell = cell;
    s->finished = finished;
    s->cells = cells;
    now_text(s->began);
    status_write(s, "RUNNING");
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
    const bool free = lock < 0 || flock(lock, LOCK_SH | LOCK_NB) == 0;
    if (lock >= 0)
        close(lock);
    return !free;
}

const char *status_read(const char *folder, char *cell, size_t size)
{
    static const char *const ends[] = {"DONE", "STOPPED"};
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/status.json", folder);
    json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    const char *found = "", *state = text_at(o, "state");
    snprintf(cell, size, "%s", text_at(o, "cell"));
    if (strcmp(state, "RUNNING") == 0)
        found = is_at_work(folder) ? "RUNNING" : "INTERRUPTED";
    for (int i = 0; i < 2; i++)
        if (strcmp(state, ends[i]) == 0)
            found = ends[i];
    json_decref(o);
    return found;
}
