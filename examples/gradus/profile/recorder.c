/* recorder.c - see recorder.h. */
#include "profile/recorder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/system.h"

enum { SITES = 4096, SLOTS = 2 * SITES, OPEN = 1024 };

/* Something that has ended and whose span has not: it began there and took so long. */
typedef struct {
    double begin, seconds;
} part;

struct recorder {
    gr_context *ctx;
    const char *command;
    bool traced, keep; /* this update is; is recorded */
    bool by_device;    /* kernels and copies are told of when they are sent off, and timed by the device */
    double begin;
    site *sites;
    int n_sites;
    short slot[SLOTS]; /* hash table: number of a site and 1; 0: free */
    line *lines[GROUPINGS];
    int n_lines[GROUPINGS];
    line rest; /* of an update, which no other line has */
    double beside, loading;
    int64_t peak;
    int peak_site;
    part open[OPEN];
    int n_open;
    recorded_event *events;
    size_t n_events, room;
    int64_t lost; /* events that found no room */
    recorded_update *updates;
    int64_t n_updates, update_room;
    double sum, squares; /* of the updates' times */
};

/* --- lines and sites ---------------------------------------------------------------------------------------------- */

/* The line of this name and pass, made where it is new; the last one of all takes what finds no place. */
static int line_of(recorder *r, grouping g, const char *name, const char *pass)
{
    line *lines = r->lines[g];
    for (int i = 0; i < r->n_lines[g]; i++)
        if (strcmp(lines[i].name, name) == 0 && strcmp(lines[i].pass, pass) == 0)
            return i;
    if (r->n_lines[g] == RECORDER_LINES)
        return RECORDER_LINES - 1;
    lines[r->n_lines[g]] = (line){.name = name, .pass = pass};
    return r->n_lines[g]++;
}

static bool is_loading(const char *span)
{
    return strcmp(span, "loader") == 0 || strcmp(span, "fill") == 0 || strcmp(span, "wait") == 0;
}

static void choose_lines(recorder *r, site *s)
{
    s->line[BY_OPERATION] = s->line[BY_MODULE] = -1;
    if (s->kind == GR_TRACE_KERNEL)
        s->line[BY_MODULE] = line_of(r, BY_MODULE, *s->module ? s->module : "(none)", s->pass);
    if (s->kind == GR_TRACE_KERNEL)
        s->line[BY_OPERATION] = line_of(r, BY_OPERATION, s->op, s->pass);
    else if (s->kind == GR_TRACE_COPY)
        s->line[BY_OPERATION] = line_of(r, BY_OPERATION, s->op, "copy");
    else if (is_loading(s->op) && !r->by_device)
        s->line[BY_OPERATION] = line_of(r, BY_OPERATION, "loader", strcmp(s->op, "loader") ? s->op : "");
}

/* Names are told apart by their addresses: they stay where they are while the network lives. */
static size_t hash_of(const gr_trace_event *e)
{
    uint64_t h = (uint64_t)(uintptr_t)e->op * 0x9e3779b97f4a7c15u;
    uint64_t bits;
    h = (h ^ (uint64_t)(uintptr_t)e->module) * 0x9e3779b97f4a7c15u;
    memcpy(&bits, &e->flops, sizeof bits);
    h = (h ^ bits ^ (uint64_t)(uintptr_t)e->pass) * 0x9e3779b97f4a7c15u;
    memcpy(&bits, &e->bytes_read, sizeof bits);
    h = (h ^ bits) * 0x9e3779b97f4a7c15u;
    return (size_t)(h >> 40) % SLOTS;
}

static bool is_of(const site *s, const gr_trace_event *e)
{
    return s->op == e->op && s->module == e->module && s->pass == e->pass && s->kind == e->kind &&
           s->flops == e->flops && s->bytes_read == e->bytes_read && s->bytes_written == e->bytes_written;
}

/* The site of an event, made where it is new; the last one of all takes what finds no place. */
static int site_of(recorder *r, const gr_trace_event *e)
{
    size_t at = hash_of(e);
    for (; r->slot[at]; at = (at + 1) % SLOTS)
        if (is_of(&r->sites[r->slot[at] - 1], e))
            return r->slot[at] - 1;
    if (r->n_sites == SITES)
        return SITES - 1;
    site *s = &r->sites[r->n_sites++];
    *s = (site){.op = e->op,
                .module = e->module,
                .pass = e->pass,
                .kind = e->kind,
                .flops = e->flops,
                .bytes_read = e->bytes_read,
                .bytes_written = e->bytes_written};
    gr_trace_shapes(r->ctx, s->shapes, sizeof s->shapes);
    choose_lines(r, s);
    r->slot[at] = (short)r->n_sites;
    return r->n_sites - 1;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Time of an event without that of the parts inside it, which it takes from the list. */
static double own_seconds(recorder *r, double begin, double end)
{
    double inside = 0;
    while (r->n_open > 0 && r->open[r->n_open - 1].begin >= begin)
        inside += r->open[--r->n_open].seconds;
    if (r->n_open < OPEN)
        r->open[r->n_open++] = (part){begin, end - begin};
    return end - begin - inside;
}

static void add(line *l, const gr_trace_event *e, double seconds)
{
    l->calls++;
    l->flops += e->flops;
    l->bytes_read += e->bytes_read;
    l->bytes_written += e->bytes_written;
    l->now += seconds;
}

static void keep_event(recorder *r, const recorded_event *e)
{
    if (r->n_events < r->room)
        r->events[r->n_events++] = *e;
    else
        r->lost++;
}

/* Time of an event's own that counts: none of what the device times, or what lies beside. */
static double counted_seconds(recorder *r, const gr_trace_event *e)
{
    if (e->thread) {
        r->beside += e->end - e->begin;
        return 0;
    }
    const double seconds = own_seconds(r, e->begin, e->end);
    if (!r->by_device)
        return seconds;
    if (e->kind == GR_TRACE_SPAN && is_loading(e->op))
        r->loading += seconds;
    return 0;
}

static void on_event(void *user, const gr_trace_event *e)
{
    recorder *r = user;
    if (!r->keep)
        return;
    const int number = site_of(r, e);
    site *s = &r->sites[number];
    const double seconds = counted_seconds(r, e);
    s->sum += seconds;
    for (grouping g = 0; g < GROUPINGS && !e->thread; g++)
        if (s->line[g] >= 0)
            add(&r->lines[g][s->line[g]], e, seconds);
    if (e->memory > r->peak) {
        r->peak = e->memory;
        r->peak_site = number;
    }
    keep_event(r, &(recorded_event){e->begin, e->end, e->memory, number, e->thread, 0});
    if (r->by_device && e->kind != GR_TRACE_SPAN)
        gr_trace_tag(r->ctx, number + 1);
}

/* What travels beside the kernels takes none of an update's time. */
static void on_device_time(void *user, const gr_device_time *t)
{
    recorder *r = user;
    if (!r->keep || t->tag == 0)
        return;
    const int number = (int)t->tag - 1;
    site *s = &r->sites[number];
    const double seconds = t->stream == GR_STREAM_COMPUTE ? t->end - t->begin : 0;
    s->sum += seconds;
    for (grouping g = 0; g < GROUPINGS; g++)
        if (s->line[g] >= 0)
            r->lines[g][s->line[g]].now += seconds;
    keep_event(r, &(recorded_event){t->begin, t->end, 0, number, 0, t->stream});
}

recorder *recorder_open(gr_context *ctx, size_t events, const char *command)
{
    recorder *r = calloc(1, sizeof *r);
    if (r)
        *r = (recorder){.ctx = ctx,
                        .command = command,
                        .sites = calloc(SITES, sizeof *r->sites),
                        .lines = {calloc(RECORDER_LINES, sizeof **r->lines), calloc(RECORDER_LINES, sizeof **r->lines)},
                        .rest = {.name = "host", .pass = "between"},
                        .events = malloc(events * sizeof *r->events),
                        .room = events};
    if (r && r->sites && r->lines[BY_OPERATION] && r->lines[BY_MODULE] && r->events)
        return r;
    recorder_close(r);
    complain(GR_NO_MEMORY, command, "out of host memory for %zu events", events);
    return NULL;
}

void recorder_close(recorder *r)
{
    if (!r)
        return;
    free(r->sites);
    for (grouping g = 0; g < GROUPINGS; g++)
        free(r->lines[g]);
    free(r->events);
    free(r->updates);
    free(r);
}

/* --- updates ------------------------------------------------------------------------------------------------------ */

static void start(recorder *r, bool traced, bool keep)
{
    gr_trace(r->ctx, traced ? on_event : NULL, r);
    if (traced && gr_trace_device(r->ctx, true)) {
        r->by_device = true;
        r->rest.name = "idle";
    }
    r->traced = traced;
    r->keep = keep;
    r->n_open = 0;
    r->begin = now_seconds();
}

void recorder_begin(recorder *r)
{
    start(r, true, true);
}

void recorder_warm(recorder *r)
{
    start(r, true, false);
}

void recorder_pause(recorder *r)
{
    start(r, false, false);
}

static bool grow(recorder *r)
{
    const int64_t room = r->update_room ? 2 * r->update_room : 64;
    recorded_update *grown = realloc(r->updates, (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    r->updates = grown;
    r->update_room = room;
    return true;
}

static void fold(line *l)
{
    l->sum += l->now;
    l->squares += l->now * l->now;
    l->now = 0;
}

/* What no line has is the rest. */
static void fold_lines(recorder *r, double seconds)
{
    r->rest.now = seconds;
    for (int i = 0; i < r->n_lines[BY_OPERATION]; i++)
        r->rest.now -= r->lines[BY_OPERATION][i].now;
    for (grouping g = 0; g < GROUPINGS; g++)
        for (int i = 0; i < r->n_lines[g]; i++)
            fold(&r->lines[g][i]);
    fold(&r->rest);
}

bool recorder_end(recorder *r, int64_t number)
{
    if (r->traced && r->by_device && !gr_trace_device_times(r->ctx, on_device_time, r) && gr_ok(r->ctx))
        return complain(GR_NO_MEMORY, r->command, "the device's times could not be read for want of memory") == 0;
    const double end = now_seconds(), seconds = end - r->begin;
    if (!r->keep)
        return true;
    r->keep = false;
    if (r->n_updates == r->update_room && !grow(r)) {
        complain(GR_NO_MEMORY, r->command, "out of host memory for the times of updates");
        return false;
    }
    const recorded_update *before = r->n_updates ? &r->updates[r->n_updates - 1] : NULL;
    const size_t first = before ? before->first + before->events : 0;
    r->updates[r->n_updates++] = (recorded_update){r->begin, end, first, r->n_events - first, number};
    fold_lines(r, seconds);
    r->sum += seconds;
    r->squares += seconds * seconds;
    return true;
}

/* --- what there is ------------------------------------------------------------------------------------------------ */

const site *recorder_sites(const recorder *r, int *n)
{
    *n = r->n_sites;
    return r->sites;
}

const recorded_update *recorder_updates(const recorder *r, int64_t *n)
{
    *n = r->n_updates;
    return r->updates;
}

const recorded_event *recorder_events(const recorder *r)
{
    return r->events;
}

int64_t recorder_lost(const recorder *r)
{
    return r->lost;
}

const line *recorder_lines(const recorder *r, grouping g, int *n)
{
    *n = r->n_lines[g];
    return r->lines[g];
}

bool recorder_by_device(const recorder *r)
{
    return r->by_device;
}

const line *recorder_rest(const recorder *r)
{
    return &r->rest;
}

static estimate estimate_of(double sum, double squares, int64_t n)
{
    const double mean = sum / (double)n, spread = fmax(squares - sum * mean, 0);
    return (estimate){mean, n > 1 ? sqrt(spread / (double)(n - 1) / (double)n) : NAN};
}

estimate recorder_line_time(const recorder *r, const line *l)
{
    return estimate_of(l->sum, l->squares, r->n_updates);
}

estimate recorder_update_time(const recorder *r)
{
    return estimate_of(r->sum, r->squares, r->n_updates);
}

const site *recorder_peak(const recorder *r, int64_t *bytes)
{
    *bytes = r->peak;
    return r->peak > 0 ? &r->sites[r->peak_site] : NULL;
}

double recorder_beside(const recorder *r)
{
    return r->beside;
}

double recorder_loading(const recorder *r)
{
    return r->loading;
}
