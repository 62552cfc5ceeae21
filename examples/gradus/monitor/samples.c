/* samples.c - see samples.h. */
#include "monitor/samples.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#include "terminal/json_values.h"
#include "terminal/system.h"
#include "terminal/text.h"
#include "train/row.h"

/* What children that ended and were waited for leave behind, beside those who live. */
static void add_ended(tree_use *t)
{
    struct rusage ended;
    getrusage(RUSAGE_CHILDREN, &ended);
    t->cpu_seconds += (double)(ended.ru_utime.tv_sec + ended.ru_stime.tv_sec) +
                      1e-6 * (double)(ended.ru_utime.tv_usec + ended.ru_stime.tv_usec);
    t->minor_faults += ended.ru_minflt;
    t->major_faults += ended.ru_majflt;
}

void samples_begin(samples *s, FILE *csv, gpu_query *query)
{
    *s = (samples){.self = getpid(),
                   .begin = now_seconds(),
                   .csv = csv,
                   .query = query,
                   .energy = energy_open("/sys/class/powercap"),
                   .gpu = gpu_watch_begin(gpu_asked())};
    s->last = s->begin;
    s->most.watts = NAN;
    if (!csv)
        return;
    fprintf(csv, "seconds,processes,cores,rss_bytes,pss_bytes,minor_faults,major_faults,watts,gpu_utilisation,"
                 "gpu_memory_bytes,gpu_power");
    if (query)
        gpu_query_print_heads(query, csv);
    fputc('\n', csv);
}

/* --- a sample ----------------------------------------------------------------------------------------------------- */

static void write_csv(const samples *s, const usage_sample *one)
{
    FILE *f = s->csv;
    fprintf(f, "%.3f,%d,%.3f,%lld,", one->seconds, one->use.processes, one->cores, (long long)one->use.rss_bytes);
    if (one->use.pss_bytes >= 0)
        fprintf(f, "%lld", (long long)one->use.pss_bytes);
    fprintf(f, ",%lld,%lld,", (long long)one->use.minor_faults, (long long)one->use.major_faults);
    if (!isnan(one->watts))
        fprintf(f, "%.2f", one->watts);
    if (one->gpu.readings)
        fprintf(f, ",%.1f,%lld,%.1f", one->gpu.utilisation, (long long)one->gpu.memory_bytes, one->gpu.power);
    else
        fprintf(f, ",,,");
    if (s->query)
        gpu_query_print_now(s->query, f);
    fputc('\n', f);
    fflush(f); /* whoever looks meanwhile sees it */
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void add_up(samples *s, const usage_sample *one)
{
    usage_sample *most = &s->most;
    s->n++;
    most->cores = fmax(most->cores, one->cores);
    most->watts = fmax(most->watts, one->watts); /* a NAN gives way */
    most->use.processes = (int)larger(most->use.processes, one->use.processes);
    most->use.rss_bytes = larger(most->use.rss_bytes, one->use.rss_bytes);
    most->use.pss_bytes = larger(most->use.pss_bytes, one->use.pss_bytes);
    most->gpu.memory_bytes = larger(most->gpu.memory_bytes, one->gpu.memory_bytes);
    s->gpu_readings += (double)one->gpu.readings;
    s->gpu_utilisation += (double)one->gpu.readings * one->gpu.utilisation;
    s->gpu_power += (double)one->gpu.readings * one->gpu.power;
}

void samples_take(samples *s)
{
    const double now = now_seconds(), passed = now - s->last;
    usage_sample one = {.seconds = now - s->begin};
    if (!tree_read(s->self, &one.use)) {
        s->why = s->lost++ ? s->why : errno;
        return;
    }
    if (one.use.processes == 0) /* it ended just now */
        return;
    one.gpu = gpu_watch_take(s->gpu);
    const double joules = energy_take(&s->energy);
    tree_use all = one.use;
    add_ended(&all);
    one.cores = fmax(0, all.cpu_seconds - s->before.cpu_seconds) / passed;
    one.use.minor_faults = larger(0, all.minor_faults - s->before.minor_faults);
    one.use.major_faults = larger(0, all.major_faults - s->before.major_faults);
    one.watts = joules / passed;
    s->joules += joules;
    s->before = all;
    s->last = now;
    add_up(s, &one);
    if (s->query)
        gpu_query_take(s->query);
    if (s->csv)
        write_csv(s, &one);
}

void samples_end(samples *s)
{
    tree_use all = {0};
    struct rusage ended;
    add_ended(&all);
    getrusage(RUSAGE_CHILDREN, &ended);
    s->seconds = now_seconds() - s->begin;
    s->joules += energy_take(&s->energy);
    s->cpu_seconds = all.cpu_seconds;
    s->minor_faults = all.minor_faults;
    s->major_faults = all.major_faults;
    s->largest_bytes = 1024 * (int64_t)ended.ru_maxrss;
    const gpu_use rest = gpu_watch_end(s->gpu);
    s->gpu_readings += (double)rest.readings;
    s->gpu_utilisation += (double)rest.readings * rest.utilisation;
    s->gpu_power += (double)rest.readings * rest.power;
    s->most.gpu.memory_bytes = larger(s->most.gpu.memory_bytes, rest.memory_bytes);
}

/* --- the summary -------------------------------------------------------------------------------------------------- */

static void print_memory(const samples *s, FILE *f)
{
    char text[32];
    if (s->n) {
        print_defined(f, "resident", bytes_text((double)s->most.use.rss_bytes, text),
                      "most at a sample: pages in memory, what processes share counted in each (RSS)");
        if (s->most.use.pss_bytes > 0)
            print_defined(f, "proportional", bytes_text((double)s->most.use.pss_bytes, text),
                          "most at a sample: what n processes share counts an n-th in each (PSS)");
    }
    print_defined(f, "high-water", bytes_text((double)s->largest_bytes, text),
                  "most that the largest process ever had resident, by the kernel's account");
    print_defined(f, "page faults", thousands_text(s->minor_faults, text), "pages given without a disk");
    print_defined(f, "", thousands_text(s->major_faults, text), "pages read from a disk");
}

static void print_power(const samples *s, FILE *f)
{
    char text[64];
    if (s->energy.n == 0) {
        print_defined(f, "power", "-", "the processor's counters (RAPL) are not there, or for root alone");
        return;
    }
    snprintf(text, sizeof text, "%.1f W", s->joules / s->seconds);
    print_defined(f, "power", text, "mean of the processor packages (RAPL), of all programs together");
    snprintf(text, sizeof text, "%.0f J", s->joules);
    print_defined(f, "energy", text, "the same over the whole time");
}

static void print_gpu(const samples *s, FILE *f)
{
    char text[64];
    if (s->gpu_readings == 0)
        return;
    snprintf(text, sizeof text, "%.1f %%", s->gpu_utilisation / s->gpu_readings);
    print_defined(f, "GPU", text,
                  "mean share of time in which any kernel ran, however little of the GPU it used (NVML)");
    print_defined(f, "GPU memory", bytes_text((double)s->most.gpu.memory_bytes, text), "most in use, by all programs");
    snprintf(text, sizeof text, "%.1f W", s->gpu_power / s->gpu_readings);
    print_defined(f, "GPU power", text, "mean");
}

void samples_print(const samples *s, FILE *f)
{
    char text[64], cores[64];
    fprintf(f, "\n");
    print_defined(f, "time", duration_text(s->seconds, text), "from start to end, by the clock");
    print_defined(f, "processor time", duration_text(s->cpu_seconds, text), "of all its processes, user and system");
    snprintf(text, sizeof text, "%.2f", s->cpu_seconds / s->seconds);
    snprintf(cores, sizeof cores, "of %ld cores, mean over the whole time: processor time by time",
             sysconf(_SC_NPROCESSORS_ONLN));
    print_defined(f, "busy", text, cores);
    if (s->n) {
        snprintf(text, sizeof text, "%.2f", s->most.cores);
        print_defined(f, "", text, "cores, most in an interval");
    }
    print_memory(s, f);
    print_power(s, f);
    print_gpu(s, f);
    if (s->query)
        gpu_query_print(s->query, f);
    fprintf(f, "  %d sample%s\n", s->n, s->n == 1 ? "" : "s");
}

static json_t *number(double x, bool known)
{
    return json_real_or_null(known ? x : NAN);
}

void samples_print_json(const samples *s, int code, FILE *f)
{
    const bool gpu = s->gpu_readings > 0, power = s->energy.n > 0;
    json_t *o = json_pack(
        "{s:i, s:i, s:f, s:f, s:f, s:o, s:i, s:o, s:o, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "exit_code", code,
        "samples", s->n, "seconds", s->seconds, "cpu_seconds", s->cpu_seconds, "cores_mean",
        s->cpu_seconds / s->seconds, "cores_most", number(s->most.cores, s->n > 0), "cores_there",
        (int)sysconf(_SC_NPROCESSORS_ONLN), "rss_bytes_most", s->n ? json_integer(s->most.use.rss_bytes) : json_null(),
        "pss_bytes_most", s->most.use.pss_bytes > 0 ? json_integer(s->most.use.pss_bytes) : json_null(),
        "largest_process_bytes", (json_int_t)s->largest_bytes, "minor_faults", (json_int_t)s->minor_faults,
        "major_faults", (json_int_t)s->major_faults, "joules", number(s->joules, power), "watts_mean",
        number(s->joules / s->seconds, power), "gpu_utilisation", number(s->gpu_utilisation / s->gpu_readings, gpu),
        "gpu_memory_bytes", gpu ? json_integer(s->most.gpu.memory_bytes) : json_null(), "gpu_power",
        number(s->gpu_power / s->gpu_readings, gpu));
    if (s->query)
        json_object_set_new(o, "query_gpu", gpu_query_json(s->query));
    json_dumpf(o, f, ROW_FORMAT);
    fputc('\n', f);
    json_decref(o);
}
