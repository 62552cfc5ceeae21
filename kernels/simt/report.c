/* report.c - what was found wrong, in words; and the way out of a kernel that did it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/simt/machine.h"

const char *gr__simt_short(const char *file)
{
    static const char here[] = "kernels/simt/report.c", path[] = __FILE__;
    const size_t root = sizeof path >= sizeof here ? sizeof path - sizeof here : 0;
    return file && !strncmp(file, path, root) ? file + root : file;
}

/* printf at the end of text[room]. */
static void __attribute__((format(printf, 3, 4))) add(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list list;
    va_start(list, format);
    vsnprintf(text + used, room - used, format, list);
    va_end(list);
}

/* A kernel's name as GR_LAUNCH got it, without the parentheses around a template. */
static const char *name_of(const char *kernel)
{
    return kernel + (kernel[0] == '(');
}
static int name_length(const char *kernel)
{
    return (int)strlen(kernel) - 2 * (kernel[0] == '(');
}

/* The report, and in which kernel, block and thread. */
static void compose(const gr__simt_machine *m, char text[GR__SIMT_FAULT], const char *format, va_list list)
{
    vsnprintf(text, GR__SIMT_FAULT, format, list);
    if (m->launch)
        add(text, GR__SIMT_FAULT, "; in %.*s", name_length(m->launch->kernel), name_of(m->launch->kernel));
    if (m->threads)
        add(text, GR__SIMT_FAULT, ", block (%u,%u,%u)", blockIdx.x, blockIdx.y, blockIdx.z);
    if (m->current)
        add(text, GR__SIMT_FAULT, " thread (%u,%u,%u)", threadIdx.x, threadIdx.y, threadIdx.z);
}

/* Out of the kernel, if a thread of it runs. */
static void abandon(gr__simt_machine *m)
{
    if (m->current) {
        gr__simt_fiber *left = m->current->fiber;
        m->current = NULL;
        gr__simt_fiber_switch(left, &m->launcher);
    }
}

void gr__simt_compose(gr__simt_machine *m, char text[GR__SIMT_FAULT], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    compose(m, text, format, list);
    va_end(list);
}

void gr__simt_report(gr__simt_machine *m, const char *format, ...)
{
    if (!m->fault[0]) {
        va_list list;
        va_start(list, format);
        compose(m, m->fault, format, list);
        va_end(list);
    }
    abandon(m);
}

void gr__simt_report_text(gr__simt_machine *m, const char *text)
{
    if (!m->fault[0])
        snprintf(m->fault, sizeof m->fault, "%s", text);
    abandon(m);
}

void gr__simt_refuse(const char *what, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_here();
    if (m)
        gr__simt_report(m, "%s; at %s:%d", what, gr__simt_short(file), line);
}

/* What a thread is doing and where, and whether two threads do the same. */
static bool same_place(const gr__simt_thread *a, const gr__simt_thread *b)
{
    return a->state == b->state && a->line == b->line && a->file == b->file;
}

static void describe(const gr__simt_thread *t, char *text, size_t room)
{
    static const char *const state[] = {"not started",     "can go on from",        "running",
                                        "at the barrier",  "in a warp operation",   "looks round at",
                                        "at the mbarrier", "at the grid's barrier", "exited"};
    if (t->state == GR__SIMT_READY && !t->file) {
        add(text, room, "reads one place again and again");
        return;
    }
    add(text, room, "%s", state[t->state]);
    if (t->state == GR__SIMT_READY || t->state == GR__SIMT_AT_BARRIER || t->state == GR__SIMT_IN_COLLECTIVE ||
        t->state == GR__SIMT_LOOKING_ROUND || t->state == GR__SIMT_AT_MBARRIER || t->state == GR__SIMT_AT_GRID_BARRIER)
        add(text, room, " %s:%d", gr__simt_short(t->file), t->line);
}

void gr__simt_list_threads(gr__simt_machine *m, char *text, size_t room)
{
    for (int first = 0, end; first < m->threads; first = end) {
        for (end = first + 1; end < m->threads && same_place(&m->thread[first], &m->thread[end]); end++)
            ;
        add(text, room, end - first == 1 ? "\n  thread %d: " : "\n  threads %d to %d: ", first, end - 1);
        describe(&m->thread[first], text, room);
    }
}

const char *gr__simt_where(void)
{
    gr__simt_machine *m = gr__simt_now;
    if (!m || !m->threads)
        return "no kernel is running";
    snprintf(m->where, sizeof m->where, "%.*s, block (%u,%u,%u)", name_length(m->launch->kernel),
             name_of(m->launch->kernel), blockIdx.x, blockIdx.y, blockIdx.z);
    gr__simt_list_threads(m, m->where, sizeof m->where);
    gr__simt_list_grid(m, m->where, sizeof m->where);
    return m->where;
}
