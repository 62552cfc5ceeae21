/*
 * tree.c - see tree.h. A process that ended has left its sums with the parent that waited for it (cutime and the like),
 * so adding up those who live counts each once.
 */
#include "monitor/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/system.h"

enum { MOST = 4096 /* processes that are looked at */ };

typedef struct {
    pid_t pid, parent;
    bool ours;
    double cpu_seconds;
    int64_t rss_bytes, minor_faults, major_faults;
} process;

/* A file of a process into text. False, with errno: it cannot be read. */
static bool read_of(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    errno = ESRCH; /* nothing to be read, and no error: the process is being taken down */
    return read_beginning(path, text, size) > 0;
}

/* Why a file of a process is not there, which is no failure: it has ended meanwhile, or is not for us. */
static bool is_gone(int error)
{
    return error == ESRCH || error == ENOENT || error == EACCES || error == EPERM;
}

/* proc(5), stat: fields 4 (parent), 10 to 17 (faults and times, each with the children's), 24 (resident pages). */
static bool read_process(pid_t pid, process *p)
{
    char text[1024];
    if (!read_of(pid, "stat", text, sizeof text))
        return false;
    const char *behind = strrchr(text, ')'); /* the name in brackets may hold anything */
    int parent;
    long long minor[2], major[2], user[2], system[2], pages;
    if (!behind || sscanf(behind,
                          ") %*c %d %*d %*d %*d %*d %*u %lld %lld %lld %lld %lld %lld %lld %lld"
                          " %*d %*d %*d %*d %*u %*u %lld",
                          &parent, &minor[0], &minor[1], &major[0], &major[1], &user[0], &system[0], &user[1],
                          &system[1], &pages) != 10) {
        errno = ESRCH;
        return false;
    }
    *p = (process){.pid = pid,
                   .parent = parent,
                   .cpu_seconds = (double)(user[0] + user[1] + system[0] + system[1]) / (double)sysconf(_SC_CLK_TCK),
                   .rss_bytes = pages * sysconf(_SC_PAGESIZE),
                   .minor_faults = minor[0] + minor[1],
                   .major_faults = major[0] + major[1]};
    return true;
}

/* A line of smaps_rollup in bytes, such as "\nPss:"; -1: not there. */
static int64_t bytes_of(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line ? 1024 * strtoll(line + strlen(name), NULL, 10) : -1;
}

/*
 * Both sizes from one reading, as the process goes on between two; where there is none, stat's resident size stays, and
 * *pss is -1. False, with errno: it failed.
 */
static bool read_memory(process *p, int64_t *pss)
{
    char text[2048];
    *pss = -1;
    if (!read_of(p->pid, "smaps_rollup", text, sizeof text))
        return is_gone(errno);
    const int64_t rss = bytes_of(text, "\nRss:");
    if (rss >= 0 && (*pss = bytes_of(text, "\nPss:")) >= 0)
        p->rss_bytes = rss;
    return true;
}

/* How many processes there are; -1, with errno: it failed. */
static int read_all(process *list)
{
    DIR *all = opendir("/proc");
    int n = 0;
    if (!all)
        return errno == ENOENT ? 0 : -1;
    for (const struct dirent *entry; n >= 0 && n < MOST && (entry = readdir(all));) {
        const pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0)
            continue;
        if (read_process(pid, &list[n]))
            n++;
        else if (!is_gone(errno))
            n = -1;
    }
    const int why = errno;
    closedir(all);
    errno = why;
    return n;
}

/* Marks what is below root: again and again, as a child may stand before its parent. */
static void mark(process *list, int n, pid_t root)
{
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < n; i++) {
            bool ours = list[i].parent == root;
            for (int j = 0; j < n && !ours; j++)
                ours = list[j].ours && list[j].pid == list[i].parent;
            more = more || (ours && !list[i].ours);
            list[i].ours = ours;
        }
    }
}

/* False, with errno: what it takes cannot be read. */
static bool add(tree_use *t, process *p)
{
    int64_t pss;
    if (!read_memory(p, &pss))
        return false;
    t->processes++;
    t->cpu_seconds += p->cpu_seconds;
    t->rss_bytes += p->rss_bytes;
    t->minor_faults += p->minor_faults;
    t->major_faults += p->major_faults;
    t->pss_bytes = t->pss_bytes < 0 || pss < 0 ? -1 : t->pss_bytes + pss;
    return true;
}

bool tree_read(pid_t root, tree_use *t)
{
    process *list = calloc(MOST, sizeof *list);
    const int n = list ? read_all(list) : -1;
    bool good = n >= 0;
    *t = (tree_use){0};
    mark(list, n, root);
    for (int i = 0; i < n && good; i++)
        good = !list[i].ours || add(t, &list[i]);
    const int why = errno;
    free(list);
    errno = why;
    return good;
}
