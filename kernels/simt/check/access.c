/*
 * access.c - every access of a kernel comes through here: to shared memory, to a buffer, or to what is none of our
 * business.
 */
#include <stdio.h>

#include "kernels/simt/check/requests.h"

/* A kernel's parameters, its built-in variables and the constants of its program. */
static bool is_own(const gr__simt_machine *m, const char *p)
{
    const char *const variables[] = {(const char *)&threadIdx, (const char *)&blockIdx, (const char *)&blockDim,
                                     (const char *)&gridDim};
    for (int i = 0; i < 4; i++)
        if ((size_t)(p - variables[i]) < sizeof(uint3))
            return true;
    return (size_t)(p - (const char *)m->launch->arguments) < m->launch->arguments_bytes || gr__simt_in_image(p);
}

/* To a request of its warp. */
static void join(gr__simt_machine *m, const gr__simt_access *a, bool shared)
{
    if (gr__simt_requests_add(m, a, shared))
        return;
    if (m->tally)
        gr__simt_count_lost(m);
    if (m->watching)
        gr__simt_watch_lost(m);
}

void gr__simt_check(gr__simt_machine *m, const gr__simt_access *a)
{
    if (!a->bytes)
        return;
    const bool shared = gr__simt_in_shared(m, a->p);
    if ((m->tally || m->watching) && m->current && (shared || !is_own(m, a->p)))
        join(m, a, shared);
    if (shared) {
        gr__simt_check_shared(m, a);
        return;
    }
    gr__simt_buffer *b = gr__simt_find_buffer(m, a->p);
    if (b)
        gr__simt_check_buffer(m, b, a);
    else if (m->memory.strict && !is_own(m, a->p))
        gr__simt_report_bounds(m, a);
}

void gr__simt_touch(gr__simt_machine *m, gr__simt_thread *t, const void *p, size_t bytes, bool write, const char *file,
                    int line)
{
    gr__simt_check(m, &(gr__simt_access){t, p, bytes, write, false, gr__simt_site_of_line(m, file, line), false});
}

void gr__simt_touch_atomic(gr__simt_machine *m, const void *p, size_t bytes, bool compares, const char *file, int line)
{
    gr__simt_check(
        m, &(gr__simt_access){m->current, p, bytes, true, true, gr__simt_site_of_line(m, file, line), compares});
}

static void describe(gr__simt_machine *m, const gr__simt_access *a, const gr__simt_record *other, char *text,
                     size_t room)
{
    char address[320], here[256], there[256], end[320] = "";
    gr__simt_name_address(m, a->p, address, sizeof address);
    gr__simt_site_text(m, a->site, here, sizeof here);
    const int who = other ? gr__simt_epoch_thread(other->epoch) : 0;
    if (other && who >= GR__SIMT_THREADS)
        snprintf(end, sizeof end, "; the %s %s",
                 other->epoch == GR__SIMT_UNDER_WAY || who == GR__SIMT_TMA_THREAD ? "copy" : "product",
                 gr__simt_site_text(m, other->site, there, sizeof there));
    else if (other)
        snprintf(end, sizeof end, "; other access thread %d, %s", gr__simt_epoch_thread(other->epoch),
                 gr__simt_site_text(m, other->site, there, sizeof there));
    snprintf(text, room, "on %s; this access %s%s", address, here, end);
}

void gr__simt_report_access(gr__simt_machine *m, const gr__simt_access *a, const char *kind, const char *what,
                            const gr__simt_record *other)
{
    char text[1024];
    describe(m, a, other, text, sizeof text);
    gr__simt_report(m, "%s: %s %s", kind, what, text);
}

void gr__simt_read_unwritten(gr__simt_machine *m, const gr__simt_access *a)
{
    char text[1024];
    if (m->shadow->unwritten[0])
        return;
    describe(m, a, NULL, text, sizeof text);
    gr__simt_compose(m, m->shadow->unwritten, "uninitialised: read %s", text);
}

void gr__simt_shadow_meets(gr__simt_machine *m)
{
    if (m->shadow && m->shadow->unwritten[0])
        gr__simt_report_text(m, m->shadow->unwritten);
}

void gr__simt_report_bounds(gr__simt_machine *m, const gr__simt_access *a)
{
    char what[64];
    snprintf(what, sizeof what, "%s of %zu bytes", a->write ? "write" : "read", a->bytes);
    gr__simt_report_access(m, a, "out of bounds", what, NULL);
}
