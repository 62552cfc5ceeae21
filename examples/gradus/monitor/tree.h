/* tree.h - what the kernel tells of a program and all that it has started, from /proc. */
#ifndef GRADUS_MONITOR_TREE_H
#define GRADUS_MONITOR_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct {
    int processes;
    double cpu_seconds;   /* user and system, since their start; children that ended and were waited for too */
    int64_t rss_bytes;    /* resident; a page that several share counts in each */
    int64_t pss_bytes;    /* proportional: a page that n share counts an n-th in each; -1: not to be read */
    int64_t minor_faults; /* pages given without reading a disk */
    int64_t major_faults; /* pages read from a disk */
} tree_use;

/*
 * All processes below root, without itself: nothing is known of any where /proc is not there. False, with errno: what
 * is there cannot be read; *t is then of no use.
 */
bool tree_read(pid_t root, tree_use *t);

#endif
