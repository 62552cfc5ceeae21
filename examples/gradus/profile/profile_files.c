/* profile_files.c - the events as a trace for Chrome's and Perfetto's viewers, and as stacks for flame graphs. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "profile/profile.h"
#include "terminal/output.h"

/* Viewers group tracks by process: the host's threads, and the streams of a device that is timed by its own clock. */
typedef enum { HOST = 1, DEVICE } process;
enum { MAIN_THREAD = 1 };
/* At most: an event and its memory, an update, the end. */
enum { EVENT_BYTES = 1024, UPDATE_BYTES = 160, END_BYTES = 256 };

typedef struct {
    const profile *p;
    FILE *f;
    double zero;      /* seconds: when the first update began */
    int64_t limit;    /* bytes that may be written */
    int64_t kept;     /* of them, for later updates and the end */
    int64_t left_out; /* events for which there was no room */
    int threads[64];  /* of workers, as far as they have a name */
    int n_threads;
} writer;

/* Microseconds and three digits, of whole nanoseconds: what lies inside another event does so to the last digit. */
static int64_t nanoseconds(const writer *w, double seconds)
{
    return llround(1e9 * (seconds - w->zero));
}

static void print_time(FILE *f, const char *key, int64_t ns)
{
    fprintf(f, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

/* A name that is somebody else's choice: quotes and what does not print are escaped. */
static void print_string(FILE *f, const char *text)
{
    json_t *s = json_string(text);
    if (s)
        json_dumpf(s, f, JSON_ENCODE_ANY);
    else
        fprintf(f, "\"?\"");
    json_decref(s);
}

/* A track of the trace. */
typedef struct {
    process of;
    int thread; /* or stream */
} track;

static const track host = {HOST, MAIN_THREAD};

static void print_head(writer *w, const char *kind, const char *category, track t)
{
    fprintf(w->f, ",\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d,\"cat\":\"%s\"", kind, t.of, t.thread, category);
}

/* Names a track, or ("process_name") the process that it is of. */
static void print_name(writer *w, track t, const char *what, const char *name)
{
    print_head(w, "M", "", t);
    fprintf(w->f, ",\"name\":\"%s\",\"args\":{\"name\":\"%s\"}}", what, name);
}

static void print_names(writer *w)
{
    /* the first of the list: no comma before it */
    fprintf(w->f, "{\"ph\":\"M\",\"pid\":%d,\"tid\":%d,\"name\":\"process_name\",\"args\":{\"name\":\"host\"}}", HOST,
            MAIN_THREAD);
    print_name(w, host, "thread_name", "host");
    if (!recorder_by_device(w->p->record))
        return;
    print_name(w, (track){DEVICE, GR_STREAM_COMPUTE}, "process_name", w->p->device);
    print_name(w, (track){DEVICE, GR_STREAM_COMPUTE}, "thread_name", "stream of kernels");
    print_name(w, (track){DEVICE, GR_STREAM_COPIES}, "thread_name", "stream of copies");
}

/* Names the track of a worker the first time that it shows. */
static void introduce(writer *w, int thread)
{
    for (int i = 0; i < w->n_threads; i++)
        if (w->threads[i] == thread)
            return;
    if (w->n_threads == (int)(sizeof w->threads / sizeof *w->threads))
        return;
    w->threads[w->n_threads++] = thread;
    print_name(w, (track){HOST, thread}, "thread_name", "loader's worker");
}

static void print_span(writer *w, const char *category, const char *name, const char *pass, track t, double begin,
                       double end)
{
    const int64_t from = nanoseconds(w, begin), to = nanoseconds(w, end);
    print_head(w, "X", category, t);
    print_time(w->f, "ts", from);
    print_time(w->f, "dur", to - from);
    fprintf(w->f, ",\"name\":");
    char whole[96];
    snprintf(whole, sizeof whole, "%s%s%s", name, *pass ? " " : "", pass);
    print_string(w->f, whole);
}

static void print_kernel_args(writer *w, const site *s, double seconds)
{
    fprintf(w->f, ",\"args\":{\"module\":");
    print_string(w->f, s->module);
    fprintf(w->f, ",\"inputs\":");
    print_string(w->f, s->shapes);
    fprintf(w->f, ",\"gflop\":%.6g,\"megabytes\":%.6g", 1e-9 * s->flops, 1e-6 * (s->bytes_read + s->bytes_written));
    if (seconds > 0)
        fprintf(w->f, ",\"gflop_per_s\":%.4g", 1e-9 * s->flops / seconds);
    fprintf(w->f, "}");
}

static void print_memory(writer *w, const recorded_event *e)
{
    print_head(w, "C", "memory", host);
    print_time(w->f, "ts", nanoseconds(w, e->begin));
    fprintf(w->f, ",\"name\":\"bytes taken on the device\",\"args\":{\"bytes\":%" PRId64 "}}", e->memory);
}

static void print_event(writer *w, const recorded_event *e)
{
    static const char *const categories[] = {"kernel", "copy", "span"};
    int n;
    const site *s = recorder_sites(w->p->record, &n) + e->site;
    const bool sent_off = recorder_by_device(w->p->record) && !e->stream && s->kind != GR_TRACE_SPAN;
    const track t = e->stream ? (track){DEVICE, e->stream} : e->thread ? (track){HOST, e->thread} : host;
    if (e->thread)
        introduce(w, e->thread);
    print_span(w, sent_off ? "launch" : categories[s->kind], s->op, s->pass, t, e->begin, e->end);
    if (s->kind == GR_TRACE_KERNEL && !sent_off)
        print_kernel_args(w, s, e->end - e->begin);
    fprintf(w->f, "}");
    if (w->p->memory && s->kind != GR_TRACE_SPAN && !e->stream)
        print_memory(w, e);
}

static void print_update(writer *w, const recorded_update *u)
{
    const recorded_event *events = recorder_events(w->p->record) + u->first;
    char name[48];
    snprintf(name, sizeof name, "update %" PRId64, u->number);
    print_span(w, "update", name, "", host, u->begin, u->end);
    fprintf(w->f, "}");
    for (size_t i = 0; i < u->events; i++)
        if (events[i].begin < w->zero)
            continue; /* a worker had begun before the first update did */
        else if (ftell(w->f) + EVENT_BYTES + w->kept <= w->limit)
            print_event(w, &events[i]);
        else
            w->left_out++;
}

int profile_write_trace(const profile *p, int64_t limit, const char *path, const char *command)
{
    int64_t n;
    const recorded_update *updates = recorder_updates(p->record, &n);
    output out;
    int code = output_open(&out, path, command);
    if (code)
        return code;
    writer w = {.p = p, .f = out.file, .zero = updates[0].begin, .limit = limit, .left_out = recorder_lost(p->record)};
    fprintf(w.f, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    print_names(&w);
    for (int64_t i = 0; i < n; i++) {
        w.kept = END_BYTES + (n - 1 - i) * UPDATE_BYTES;
        print_update(&w, &updates[i]);
    }
    fprintf(w.f, "\n],\"otherData\":{\"program\":\"gradus %s\",\"recipe\":\"%s\",\"events_left_out\":%" PRId64 "}}\n",
            gr_version(), p->run->recipe->name, w.left_out);
    return output_commit(&out, command);
}

int profile_write_stacks(const profile *p, const char *path, const char *command)
{
    int n;
    const site *sites = recorder_sites(p->record, &n);
    output out;
    int code = output_open(&out, path, command);
    for (int i = 0; code == 0 && i < n; i++) {
        const site *s = &sites[i];
        if (s->kind == GR_TRACE_SPAN || llround(1e6 * s->sum) == 0)
            continue;
        fprintf(out.file, "%s;", s->kind == GR_TRACE_COPY ? "copy" : s->pass);
        for (const char *c = s->module; *c; c++)
            fputc(*c == '.' ? ';' : *c, out.file);
        fprintf(out.file, "%s%s %lld\n", *s->module ? ";" : "", s->op, llround(1e6 * s->sum));
    }
    return code ? code : output_commit(&out, command);
}
