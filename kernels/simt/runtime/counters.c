/* counters.c - see counters.h. Lines of one kernel stand together, in the order of the source. */
#include "kernels/simt/runtime/counters.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

enum { ROWS = 1024, NAME = 256 };

typedef struct {
    char kernel[NAME], line[NAME];
    gr__simt_counters c;
} row;

typedef struct {
    row *row;
    int count;
} table;

static void add(gr__simt_counters *a, const gr__simt_counters *b)
{
    a->launches += b->launches, a->threads += b->threads, a->barriers += b->barriers;
    a->shared_requests += b->shared_requests, a->bank_conflicts += b->bank_conflicts;
    a->global_requests += b->global_requests, a->global_sectors += b->global_sectors, a->lanes += b->lanes;
}

/* Several instructions of one line are one row. */
static void take(const char *kernel, const char *line, const gr__simt_counters *c, void *data)
{
    table *t = data;
    char here[NAME];
    const size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (n && !strncmp(line, here, n) && line[n] == '/')
        line += n + 1;
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->row[i].kernel, kernel) && !strcmp(t->row[i].line, line)) {
            add(&t->row[i].c, c);
            return;
        }
    if (t->count == ROWS)
        return;
    row *r = &t->row[t->count++];
    snprintf(r->kernel, sizeof r->kernel, "%s", kernel);
    snprintf(r->line, sizeof r->line, "%s", line);
    r->c = *c;
}

static int by_place(const void *a, const void *b)
{
    const row *x = a, *y = b;
    const int kernel = strcmp(x->kernel, y->kernel);
    const char *x_colon = strrchr(x->line, ':'), *y_colon = strrchr(y->line, ':');
    if (kernel || !x_colon || !y_colon)
        return kernel ? kernel : (x_colon != NULL) - (y_colon != NULL);
    return atoi(x_colon + 1) - atoi(y_colon + 1);
}

static double per(uint64_t sum, uint64_t requests)
{
    return requests ? (double)sum / (double)requests : 0;
}

static void print_row(const row *r)
{
    const gr__simt_counters *c = &r->c;
    const uint64_t requests = c->shared_requests + c->global_requests;
    if (!*r->line)
        fprintf(stderr, "%-24.60s %8llu %9llu %8llu", r->kernel, (unsigned long long)c->launches,
                (unsigned long long)c->threads, (unsigned long long)c->barriers);
    else
        fprintf(stderr, "  %-50.60s", r->line);
    fprintf(stderr, " %8llu %9.2f %8llu %8llu %7.2f %5.1f\n", (unsigned long long)c->shared_requests,
            per(c->bank_conflicts, c->shared_requests), (unsigned long long)c->global_requests,
            (unsigned long long)c->global_sectors, per(c->global_sectors, c->global_requests), per(c->lanes, requests));
}

void gr__cuda_print_counters(void)
{
    table t = {calloc(ROWS, sizeof(row)), 0};
    if (t.row)
        gr__simt_count_lines(take, &t);
    if (t.count) {
        fflush(stdout);
        qsort(t.row, (size_t)t.count, sizeof *t.row, by_place);
        fprintf(stderr, "%-24s %8s %9s %8s %8s %9s %8s %8s %7s %5s\n", "kernel", "launches", "threads", "barriers",
                "shared", "conflicts", "global", "sectors", "per", "lanes");
        for (int i = 0; i < t.count; i++)
            print_row(&t.row[i]);
    }
    free(t.row);
    gr__simt_count_end();
}

bool gr__cuda_say_first(void *const *pc, int n)
{
    Dl_info info, ours;
    char command[4096], path[512];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = '\0';
    size_t used = (size_t)snprintf(command, sizeof command, "addr2line -i -e '%s'", path);
    for (int i = 0; i < n && used < sizeof command - 64; i++)
        if (dladdr(pc[i], &info) && dladdr((void *)&by_place, &ours) && info.dli_fbase == ours.dli_fbase)
            used += (size_t)snprintf(command + used, sizeof command - used, " 0x%lx",
                                     (unsigned long)((const char *)pc[i] - (const char *)info.dli_fbase));
    snprintf(command + used, sizeof command - used, " 2>/dev/null");
    bool said = false;
    FILE *f = popen(command, "r");
    while (f && fgets(path, sizeof path, f)) {
        char *const more = strstr(path, " (discriminator");
        *(more ? more : path + strcspn(path, "\n")) = '\0';
        if (!strstr(path, ":?") && !strstr(path, "/kernels/simt/")) {
            gr__cuda_tell_place(path);
            said = true;
            break;
        }
    }
    if (f)
        pclose(f);
    return said;
}

static void *instruction_of(const void *context)
{
    const ucontext_t *c = context;
#if defined(__x86_64__)
    return (void *)c->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (void *)c->uc_mcontext.pc;
#else
    return (void *)c;
#endif
}

bool gr__cuda_say_where(const void *context)
{
    void *pc = instruction_of(context);
    return gr__cuda_say_first(&pc, 1);
}

bool gr__cuda_in_program(const void *context)
{
    extern const char __executable_start, etext; /* the linker's */
    const char *pc = instruction_of(context);
    return pc >= &__executable_start && pc < &etext;
}

int gr__cuda_callers(void *pc[GR__CALLERS])
{
    const int n = backtrace(pc, GR__CALLERS);
    for (int i = 0; i < n; i++)
        pc[i] = (char *)pc[i] - 1; /* into the call that it returns from */
    return n;
}

void gr__cuda_say_caller(void)
{
    void *pc[GR__CALLERS];
    gr__cuda_say_first(pc, gr__cuda_callers(pc));
}
