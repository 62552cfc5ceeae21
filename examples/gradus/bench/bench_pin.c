/* bench_pin.c - see bench_pin.h. */
#include "bench/bench_pin.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>

/* The processors that the first thread was given at the start: later it has but one. */
static const cpu_set_t *usable(void)
{
    static cpu_set_t set;
    if (CPU_COUNT(&set) == 0)
        sched_getaffinity(0, sizeof set, &set);
    return &set;
}

static int next_after(const cpu_set_t *set, int cpu)
{
    do
        cpu = (cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(cpu, set));
    return cpu;
}

void pin_threads(void)
{
    const cpu_set_t *set = usable();
    DIR *tasks = CPU_COUNT(set) ? opendir("/proc/self/task") : NULL;
    int cpu = -1;
    for (struct dirent *entry; tasks && (entry = readdir(tasks)) != NULL;) {
        const pid_t thread = (pid_t)atoi(entry->d_name);
        if (thread <= 0)
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        cpu = next_after(set, cpu);
        CPU_SET(cpu, &one);
        sched_setaffinity(thread, sizeof one, &one);
    }
    if (tasks)
        closedir(tasks);
}

void unpin_thread(void)
{
    sched_setaffinity(0, sizeof(cpu_set_t), usable());
}
