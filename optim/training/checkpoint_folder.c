/* checkpoint_folder.c - see checkpoint_folder.h. */
#include "optim/training/checkpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/context.h"

static const char best_name[] = "best.safetensors", name_begin[] = "checkpoint-", name_end[] = ".safetensors";

/* Longest name of a folder: a checkpoint's own has room behind it. */
enum { LONGEST_FOLDER = GR__CHECKPOINT_PATH - 128, USUAL_KEEP = 2 };

/* How long a run waits for one that holds the folder: killed just now it holds it until its memory is given back. */
enum { LOCK_ATTEMPTS = 250, NANOSECONDS_BETWEEN = 20 * 1000 * 1000 };

void gr__checkpoint_path(const gr_checkpoint_folder *f, int64_t update, char path[GR__CHECKPOINT_PATH])
{
    snprintf(path, GR__CHECKPOINT_PATH, "%s/%s%010lld%s", f->path, name_begin, (long long)update, name_end);
}

void gr__checkpoint_best_path(const gr_checkpoint_folder *f, char path[GR__CHECKPOINT_PATH])
{
    snprintf(path, GR__CHECKPOINT_PATH, "%s/%s", f->path, best_name);
}

/* The update in a checkpoint's name; -1: it is none. */
static int64_t update_of(const char *name)
{
    char *end;
    if (strncmp(name, name_begin, sizeof name_begin - 1) != 0)
        return -1;
    const char *digits = name + sizeof name_begin - 1;
    const long long update = strtoll(digits, &end, 10);
    return end > digits && *digits >= '0' && *digits <= '9' && strcmp(end, name_end) == 0 ? update : -1;
}

/* The file under a temporary name that a run which was killed has left. */
static bool is_left_over(const char *name)
{
    return strstr(name, ".safetensors.tmp.") && (strncmp(name, name_begin, sizeof name_begin - 1) == 0 ||
                                                 strncmp(name, best_name, sizeof best_name - 1) == 0);
}

static bool failed(const gr_checkpoint_folder *f, const char *what)
{
    return gr__fail(f->ctx, gr__io_code(errno), "the folder of checkpoints %s %s: %s", f->path, what, strerror(errno));
}

/* Calls for every name in the folder. False: recorded. */
static bool each_name(const gr_checkpoint_folder *f, void (*call)(const gr_checkpoint_folder *, const char *, void *),
                      void *user)
{
    DIR *d = opendir(f->path);
    if (!d)
        return failed(f, "cannot be read");
    struct dirent *e;
    for (errno = 0; (e = readdir(d)); errno = 0)
        call(f, e->d_name, user);
    const bool read = errno == 0 || failed(f, "cannot be read");
    closedir(d);
    return read;
}

static void clear_away(const gr_checkpoint_folder *f, const char *name, void *user)
{
    (void)user;
    if (is_left_over(name))
        unlinkat(f->lock, name, 0);
}

/* False: errno tells; EWOULDBLOCK: another has it, and lives on. */
static bool take_lock(int fd)
{
    for (int i = 0; i < LOCK_ATTEMPTS; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (errno != EWOULDBLOCK)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = NANOSECONDS_BETWEEN}, NULL);
    }
    errno = EWOULDBLOCK;
    return false;
}

bool gr__checkpoint_folder_open(gr_checkpoint_folder *f, gr_context *ctx, const char *path, int keep)
{
    *f = (gr_checkpoint_folder){.ctx = ctx, .path = path, .lock = -1, .keep = keep > 0 ? keep : USUAL_KEEP};
    if (strlen(path) > LONGEST_FOLDER)
        return gr__fail(ctx, GR_USAGE, "the path of the folder of checkpoints has more than %d characters",
                        LONGEST_FOLDER);
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return failed(f, "cannot be made");
    f->lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->lock < 0)
        return failed(f, "cannot be opened");
    if (!take_lock(f->lock))
        return errno == EWOULDBLOCK
                   ? gr__fail(ctx, GR_IO_ERROR, "another run is at work in %s; wait for it or choose another folder",
                              path)
                   : failed(f, "cannot be locked");
    return each_name(f, clear_away, NULL);
}

void gr__checkpoint_folder_close(gr_checkpoint_folder *f)
{
    if (f->lock >= 0)
        close(f->lock);
    f->lock = -1;
}

typedef struct {
    int64_t before, last;
} search;

static void look_at(const gr_checkpoint_folder *f, const char *name, void *user)
{
    (void)f;
    search *s = user;
    const int64_t update = update_of(name);
    if (update < s->before && update > s->last)
        s->last = update;
}

bool gr__checkpoint_folder_last(const gr_checkpoint_folder *f, int64_t before, int64_t *update)
{
    search s = {before, -1};
    const bool read = each_name(f, look_at, &s);
    *update = s.last;
    return read;
}

void gr__checkpoint_folder_thin(const gr_checkpoint_folder *f, int64_t update)
{
    char path[GR__CHECKPOINT_PATH];
    int64_t at = update + 1;
    for (int kept = 0; gr__checkpoint_folder_last(f, at, &at) && at >= 0; kept++) {
        gr__checkpoint_path(f, at, path);
        if (kept >= f->keep && unlink(path) != 0)
            return; /* a file too many is no reason to end a run */
    }
}

void gr__checkpoint_set_aside(const gr_checkpoint_folder *f, int64_t update)
{
    char path[GR__CHECKPOINT_PATH], aside[GR__CHECKPOINT_PATH + 16];
    gr__checkpoint_path(f, update, path);
    snprintf(aside, sizeof aside, "%s.damaged", path);
    rename(path, aside);
}
