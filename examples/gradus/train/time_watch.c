/* time_watch.c - see time_watch.h. */
#include "train/time_watch.h"

#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/system.h"

enum { LINES = 96, UPDATES = 512 }; /* operation and pass together; updates kept: the last ones */

typedef struct {
    double seconds, flops, calls;
} part;

typedef struct {
    double seconds; /* from begin to end */
    double loader;  /* up to the first kernel: the batch is gathered */
    part operation[LINES];
} update_time;

struct time_watch {
    struct {
        const char *op, *pass;
    } names[LINES];
    int lines;
    double begin;
    bool trains;     /* the first update has begun */
    bool warm;       /* an update has passed */
    update_time now; /* the one that runs */
    int64_t count;   /* updates that counted */
    update_time updates[UPDATES];
    double all, slowest; /* seconds of all updates, the first among them; of the slowest */
    int64_t slowest_at;  /* which it was, from 1 on */
};

/* The line of an operation and pass; -1: there are too many, it will be found under "host". */
static int line_of(time_watch *t, const char *op, const char *pass)
{
    for (int i = 0; i < t->lines; i++)
        if (strcmp(t->names[i].op, op) == 0 && strcmp(t->names[i].pass, pass) == 0)
            return i;
    if (t->lines == LINES)
        return -1;
    t->names[t->lines].op = op;
    t->names[t->lines].pass = pass;
    return t->lines++;
}

/* The first update begins where its batch is asked for: before, gr_fit plans in dry runs and takes memory. */
static void begin_first(time_watch *t, double begin)
{
    t->trains = true;
    t->now = (update_time){0};
    t->begin = begin;
}

void time_watch_event(time_watch *t, const gr_trace_event *e)
{
    if (!t)
        return;
    if (!t->trains && e->kind == GR_TRACE_SPAN && strcmp(e->op, "loader") == 0)
        begin_first(t, e->begin);
    if (e->kind != GR_TRACE_KERNEL)
        return;
    int line = line_of(t, e->op, e->pass);
    if (t->now.loader == 0)
        t->now.loader = e->begin - t->begin;
    if (line < 0)
        return;
    part *p = &t->now.operation[line];
    p->seconds += e->end - e->begin;
    p->flops += e->flops;
    p->calls++;
}

time_watch *time_watch_open(const char *command)
{
    time_watch *t = calloc(1, sizeof *t);
    if (!t)
        complain(GR_NO_MEMORY, command, "out of host memory for the times of updates");
    return t;
}

void time_watch_close(time_watch *t)
{
    free(t);
}

void time_watch_begin(time_watch *t)
{
    if (!t)
        return;
    t->now = (update_time){0};
    t->begin = now_seconds();
}

void time_watch_end(time_watch *t, bool counts)
{
    if (!t || !counts)
        return;
    t->now.seconds = now_seconds() - t->begin;
    if (t->warm)
        t->updates[t->count++ % UPDATES] = t->now;
    t->warm = true;
    t->all += t->now.seconds;
    if (t->now.seconds > t->slowest) {
        t->slowest = t->now.seconds;
        t->slowest_at = t->count + 1;
    }
}

/* --- what comes out ----------------------------------------------------------------------------------------------- */

static int by_seconds(const void *a, const void *b)
{
    const update_time *x = *(const update_time *const *)a, *y = *(const update_time *const *)b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

/*
 * The mean of the middle half of the updates by their time. Like a median it does not see what disturbed a few of them,
 * but unlike medians its parts add up to the whole.
 */
static update_time typical(const time_watch *t)
{
    const update_time *sorted[UPDATES];
    int n = t->count < UPDATES ? (int)t->count : UPDATES, first = n / 4, last = n - n / 4;
    for (int i = 0; i < n; i++)
        sorted[i] = &t->updates[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_seconds);
    update_time mean = {0};
    for (int i = first; i < last; i++) {
        mean.seconds += sorted[i]->seconds / (last - first);
        mean.loader += sorted[i]->loader / (last - first);
        for (int line = 0; line < t->lines; line++) {
            const part *p = &sorted[i]->operation[line];
            mean.operation[line].seconds += p->seconds / (last - first);
            mean.operation[line].flops += p->flops / (last - first);
            mean.operation[line].calls += p->calls / (last - first);
        }
    }
    return mean;
}

/* The engine between the kernels: the tape, the plan of memory, adding two gradients, reading the loss. */
static double host_seconds(const time_watch *t, const update_time *u)
{
    double seconds = u->seconds - u->loader;
    for (int i = 0; i < t->lines; i++)
        seconds -= u->operation[i].seconds;
    return seconds;
}

/* Lines of the table, the longest time first; those of no update (evaluation) are left out. Returns how many. */
static int order(const time_watch *t, const update_time *u, int line[LINES])
{
    int n = 0;
    for (int i = 0; i < t->lines; i++) {
        if (u->operation[i].calls == 0)
            continue;
        int at = n++;
        for (; at > 0 && u->operation[line[at - 1]].seconds < u->operation[i].seconds; at--)
            line[at] = line[at - 1];
        line[at] = i;
    }
    return n;
}

static double gflops(const part *p)
{
    return p->seconds > 0 ? 1e-9 * p->flops / p->seconds : 0;
}

static void print_rest(FILE *f, const char *name, const char *what, double seconds, double whole)
{
    fprintf(f, "  %-22s %-16s %9.3f %6.1f %%\n", name, what, 1e3 * seconds, 100 * seconds / whole);
}

void time_watch_print(const time_watch *t, FILE *f)
{
    if (t->count == 0) {
        fprintf(f, "\nNo times: the first update warms up, and there was no other.\n");
        return;
    }
    update_time u = typical(t);
    int line[LINES], n = order(t, &u, line);
    fprintf(f, "\nTime of one update (mean of the middle half of %lld)\n\n", (long long)t->count);
    fprintf(f, "  %-22s %-9s %6s %9s %8s %9s\n", "operation", "pass", "calls", "ms", "share", "GFLOP/s");
    for (int i = 0; i < n; i++) {
        const part *p = &u.operation[line[i]];
        fprintf(f, "  %-22s %-9s %6.0f %9.3f %6.1f %% %9.1f\n", t->names[line[i]].op, t->names[line[i]].pass, p->calls,
                1e3 * p->seconds, 100 * p->seconds / u.seconds, gflops(p));
    }
    print_rest(f, "loader", "gathers a batch", u.loader, u.seconds);
    print_rest(f, "host", "between kernels", host_seconds(t, &u), u.seconds);
    print_rest(f, "whole update", "", u.seconds, u.seconds);
    fprintf(f, "\n  slowest, update %-12lld %19.3f\n", (long long)t->slowest_at, 1e3 * t->slowest);
    fprintf(f, "  all %-22lld %21.3f\n", (long long)t->count + 1, 1e3 * t->all);
}

json_t *time_watch_json(const time_watch *t)
{
    if (t->count == 0)
        return json_null();
    update_time u = typical(t);
    int line[LINES], n = order(t, &u, line);
    json_t *operations = json_array();
    for (int i = 0; i < n; i++) {
        const part *p = &u.operation[line[i]];
        json_array_append_new(operations,
                              json_pack("{s:s, s:s, s:f, s:f, s:f, s:f}", "op", t->names[line[i]].op, "pass",
                                        t->names[line[i]].pass, "calls", p->calls, "ms", 1e3 * p->seconds, "share",
                                        p->seconds / u.seconds, "gflops", gflops(p)));
    }
    return json_pack("{s:I, s:f, s:o, s:f, s:f, s:I, s:f, s:f}", "updates", (json_int_t)t->count, "ms", 1e3 * u.seconds,
                     "operations", operations, "loader_ms", 1e3 * u.loader, "host_ms", 1e3 * host_seconds(t, &u),
                     "slowest", (json_int_t)t->slowest_at, "slowest_ms", 1e3 * t->slowest, "all_ms", 1e3 * t->all);
}
