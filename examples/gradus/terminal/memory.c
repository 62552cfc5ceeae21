/* memory.c - see memory.h. Nothing is allocated: where memory is out it must not look like memory without bounds. */
#include "terminal/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "terminal/system.h"

enum { PATH_SIZE = 1024, GROUP_SIZE = 512, FILE_SIZE = 16 << 10 };

/* The number behind key ("": the first) in a file of the system; -1: there is none. */
static int64_t system_number(const char *path, const char *key)
{
    char all[FILE_SIZE], *rest;
    long long number = -1;
    read_beginning(path, all, sizeof all);
    for (char *line = strtok_r(all, "\n", &rest); line && number < 0; line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &number);
    return number;
}

int64_t memory_of_host(void)
{
    const int64_t kibibytes = system_number("/proc/meminfo", "MemAvailable:");
    return kibibytes >= 0 ? 1024 * kibibytes : INT64_MAX;
}

/* --- control groups ----------------------------------------------------------------------------------------------- */

/* Where a version keeps its groups, and what it calls things. */
typedef struct {
    const char *mount, *limit, *usage, *inactive;
} hierarchy;

static const hierarchy unified = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "},
                       legacy = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                 "total_inactive_file "};

/* Whether a line of /proc/self/cgroup, "4:cpu,memory:/group", is of a hierarchy; its group then goes into group. */
static bool read_group(char *line, bool of_memory, char group[GROUP_SIZE])
{
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return false;
    *controllers++ = *path++ = '\0';
    char padded[256];
    snprintf(padded, sizeof padded, ",%s,", controllers);
    if (of_memory ? !strstr(padded, ",memory,") : *controllers != '\0')
        return false;
    snprintf(group, GROUP_SIZE, "%s", strcmp(path, "/") == 0 ? "" : path);
    return true;
}

/* The group of this process among those that bound memory; NULL: none. Version 1 has memory where it is named there. */
static const hierarchy *find_group(const char *root, char group[GROUP_SIZE])
{
    char path[PATH_SIZE], all[FILE_SIZE], *rest;
    const hierarchy *found = NULL;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    read_beginning(path, all, sizeof all);
    for (char *line = strtok_r(all, "\n", &rest); line && found != &legacy; line = strtok_r(NULL, "\n", &rest)) {
        char copy[GROUP_SIZE];
        snprintf(copy, sizeof copy, "%s", line);
        if (read_group(line, true, group))
            found = &legacy;
        else if (read_group(copy, false, group))
            found = &unified;
    }
    return found;
}

static int64_t group_number(const char *root, const hierarchy *h, const char *group, const char *file, const char *key)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s%s%s/%s", root, h->mount, group, file);
    return system_number(path, key);
}

/* What a group still allows; INT64_MAX: it has no limit, or cannot be seen from here. */
static int64_t left_in_group(const char *root, const hierarchy *h, const char *group)
{
    const int64_t limit = group_number(root, h, group, h->limit, ""),
                  usage = group_number(root, h, group, h->usage, "");
    int64_t inactive = group_number(root, h, group, "memory.stat", h->inactive);
    inactive = inactive > 0 ? inactive : 0;
    if (limit < 0 || usage < 0 || limit > INT64_MAX / 2) /* version 1 writes a number near the largest for "none" */
        return INT64_MAX;
    return limit > usage - inactive ? limit - usage + inactive : 0;
}

int64_t memory_of_cgroup(const char *root)
{
    char group[GROUP_SIZE];
    const hierarchy *h = find_group(root, group);
    int64_t least = INT64_MAX;
    while (h) {
        const int64_t left = left_in_group(root, h, group);
        least = left < least ? left : least;
        char *last = strrchr(group, '/');
        if (!last)
            break;
        *last = '\0'; /* the group above; in a container that sees no other, its own is at the top */
    }
    return least;
}

int64_t memory_available(void)
{
    const int64_t host = memory_of_host(), group = memory_of_cgroup("");
    return host < group ? host : group;
}

/* --- this process ------------------------------------------------------------------------------------------------- */

static int64_t status_bytes(const char *key)
{
    const int64_t kibibytes = system_number("/proc/self/status", key);
    return kibibytes >= 0 ? 1024 * kibibytes : -1;
}

int64_t memory_resident(void)
{
    return status_bytes("VmRSS:");
}

int64_t memory_peak(void)
{
    return status_bytes("VmHWM:");
}

bool memory_peak_restart(void)
{
    const int f = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    const bool written = f >= 0 && write(f, "5", 1) == 1;
    if (f >= 0)
        close(f);
    return written;
}
