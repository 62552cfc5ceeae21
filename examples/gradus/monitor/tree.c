/*
 * tree.c - see tree.h. A process that ended has left its sums with the parent that waited for it (cutime and the like),
 * so adding up those who live counts each once.
 */
#include "monitor/tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4096 /* processes that are looked at */ };

typedef struct {
    pid_t pid, parent;
    bool ours;
    double cpu_seconds;
    int64_t rss_bytes, minor_faults, major_faults;
} process;

/* A file of a process into text. False: it is gone, or not for us. */
static bool read_of(pid_t pid, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int f = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = f >= 0 ? read(f, text, size - 1) : -1;
    if (f >= 0)
        close(f);
    text[n > 0 ? n : 0] = '\0';
    return n > 0;
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
                          &system[1], &pages) != 10)
        return false;
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

/* Both sizes from one reading, as the process goes on between two; where there is none, stat's resident size stays. */
static int64_t read_memory(process *p)
{
    char text[2048];
    if (!read_of(p->pid, "smaps_rollup", text, sizeof text))
        return -1;
    const int64_t rss = bytes_of(text, "\nRss:"), pss = bytes_of(text, "\nPss:");
    if (rss < 0 || pss < 0)
        return -1;
    p->rss_bytes = rss;
    return pss;
}

static int read_all(process *list)
{
    DIR *all = opendir("/proc");
    int n = 0;
    for (const struct dirent *entry; all && n < MOST && (entry = readdir(all));) {
        const pid_t pid = (pid_t)atoi(entry->d_name);
        n += pid > 0 && read_process(pid, &list[n]);
    }
    if (all)
        closedir(all);
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

static void add(tree_use *t, process *p)
{
    const int64_t pss = read_memory(p);
    t->processes++;
    t->cpu_seconds += p->cpu_seconds;
    t->rss_bytes += p->rss_bytes;
    t->minor_faults += p->minor_faults;
    t->major_faults += p->major_faults;
    t->pss_bytes = t->pss_bytes < 0 || pss < 0 ? -1 : t->pss_bytes + pss;
}

tree_use tree_read(pid_t root)
{
    tree_use t = {0};
    process *list = calloc(MOST, sizeof *list);
    const int n = list ? read_all(list) : 0;
    mark(list, n, root);
    for (int i = 0; i < n; i++)
        if (list[i].ours)
            add(&t, &list[i]);
    free(list);
    return t;
}
