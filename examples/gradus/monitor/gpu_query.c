/*
 * gpu_query.c - see gpu_query.h. Names and units are those of nvidia-smi --help-query-gpu, declarations those of NVML's
 * reference.
 */
#include "monitor/gpu_query.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/names.h"
#include "terminal/text.h"

/* The shapes of NVML's functions. */
typedef enum { NUMBER, OF_KIND, RATES, MEMORY } shape;

typedef int number_function(void *device, unsigned *value);
typedef int kind_function(void *device, int kind, unsigned *value);
typedef int rates_function(void *device, unsigned rates[2]);             /* of the GPU and of its memory */
typedef int memory_function(void *device, unsigned long long memory[3]); /* total, free, used */

struct gpu_field {
    const char *name, *function;
    shape shape;
    int which; /* OF_KIND: NVML's number of the kind; RATES, MEMORY: place in what is returned */
    double unit;
    const char *text, *meaning;
};

static const gpu_field fields[] = {
    {"utilization.gpu", "nvmlDeviceGetUtilizationRates", RATES, 0, 1, "%",
     "share of time in which any kernel ran, however little of the GPU it used"},
    {"utilization.memory", "nvmlDeviceGetUtilizationRates", RATES, 1, 1, "%",
     "share of time in which the GPU's memory was read or written"},
    {"memory.total", "nvmlDeviceGetMemoryInfo", MEMORY, 0, 1048576, "MiB", "memory of the GPU"},
    {"memory.free", "nvmlDeviceGetMemoryInfo", MEMORY, 1, 1048576, "MiB", "memory that nobody has taken"},
    {"memory.used", "nvmlDeviceGetMemoryInfo", MEMORY, 2, 1048576, "MiB", "memory in use, by all programs"},
    {"power.draw", "nvmlDeviceGetPowerUsage", NUMBER, 0, 1000, "W", "power of the whole board"},
    {"enforced.power.limit", "nvmlDeviceGetEnforcedPowerLimit", NUMBER, 0, 1000, "W",
     "power above which the GPU slows down"},
    {"temperature.gpu", "nvmlDeviceGetTemperature", OF_KIND, 0, 1, "C", "of the chip, in degrees Celsius"},
    {"clocks.gr", "nvmlDeviceGetClockInfo", OF_KIND, 0, 1, "MHz", "clock of the graphics units"},
    {"clocks.sm", "nvmlDeviceGetClockInfo", OF_KIND, 1, 1, "MHz", "clock of the multiprocessors"},
    {"clocks.mem", "nvmlDeviceGetClockInfo", OF_KIND, 2, 1, "MHz", "clock of the memory"},
    {"fan.speed", "nvmlDeviceGetFanSpeed", NUMBER, 0, 1, "%", "of the most that the fan is meant for"},
    {"pstate", "nvmlDeviceGetPerformanceState", NUMBER, 0, 1, "", "performance state, from 0, the fastest, to 15"},
    {"pcie.link.gen.current", "nvmlDeviceGetCurrPcieLinkGeneration", NUMBER, 0, 1, "", "PCI Express generation in use"},
    {"pcie.link.width.current", "nvmlDeviceGetCurrPcieLinkWidth", NUMBER, 0, 1, "", "PCI Express lanes in use"},
    {0},
};

/* --- opening ------------------------------------------------------------------------------------------------------ */

static int ask(gpu_query *q, const char *name)
{
    const name_list names = NAMES(fields);
    const int i = name_find(names, name);
    if (i < 0) {
        char all[512];
        const char *near = nearest(name, names);
        return complain(GR_USAGE, "monitor", "--query-gpu: there is no field \"%s\"%s%s%s; there are %s", name,
                        near ? "; did you mean " : "", near ? near : "", near ? "?" : "",
                        names_text(names, all, sizeof all));
    }
    if (q->n == MOST_FIELDS)
        return complain(GR_USAGE, "monitor", "--query-gpu: more than %d fields", MOST_FIELDS);
    q->asked[q->n].field = &fields[i];
    q->asked[q->n].now = q->asked[q->n].most = NAN;
    q->n++;
    return 0;
}

static int ask_all(gpu_query *q, const char *list)
{
    char words[1024], *rest;
    int code = 0;
    if (strlen(list) >= sizeof words)
        return complain(GR_USAGE, "monitor", "--query-gpu: the list is too long");
    strcpy(words, list);
    for (char *word = strtok_r(words, ", ", &rest); word && code == 0; word = strtok_r(NULL, ", ", &rest))
        code = ask(q, word);
    return code == 0 && q->n == 0 ? complain(GR_USAGE, "monitor", "--query-gpu: which fields? such as utilization.gpu")
                                  : code;
}

static void *find(const gpu_query *q, const char *name)
{
    return dlsym(q->library, name);
}

static bool open_gpu(gpu_query *q, int gpu)
{
    int (*init)(void) = NULL, (*handle)(unsigned, void **) = NULL;
    *(void **)&init = find(q, "nvmlInit_v2");
    *(void **)&handle = find(q, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&q->shutdown = find(q, "nvmlShutdown");
    if (init && handle && q->shutdown && init() == 0) {
        if (handle((unsigned)gpu, &q->device) == 0)
            return true;
        q->shutdown();
    }
    q->shutdown = NULL;
    return false;
}

int gpu_query_open(gpu_query *q, const char *list, int gpu)
{
    *q = (gpu_query){0};
    const int code = ask_all(q, list);
    if (code)
        return code;
    q->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!q->library)
        return complain(GR_USAGE, "monitor",
                        "--query-gpu: NVIDIA's management library (NVML) is not here: it comes "
                        "with the driver; leave --query-gpu out");
    if (!open_gpu(q, gpu))
        return complain(GR_USAGE, "monitor", "--query-gpu: NVML knows no GPU %d ($GRADUS_GPU)", gpu);
    for (int i = 0; i < q->n; i++)
        q->asked[i].function = find(q, q->asked[i].field->function);
    return 0;
}

void gpu_query_close(gpu_query *q)
{
    if (q->shutdown)
        q->shutdown();
    if (q->library)
        dlclose(q->library);
}

/* --- a sample ----------------------------------------------------------------------------------------------------- */

/* Calls a function of NVML. NAN: it fails, or is not there. */
static double read_field(const gpu_field *f, void *function, void *device)
{
    unsigned number = 0, rates[2] = {0};
    unsigned long long memory[3] = {0};
    union {
        void *any;
        number_function *number;
        kind_function *of_kind;
        rates_function *rates;
        memory_function *memory;
    } call = {.any = function};
    if (!function)
        return NAN;
    switch (f->shape) {
    case NUMBER:
        return call.number(device, &number) ? NAN : number / f->unit;
    case OF_KIND:
        return call.of_kind(device, f->which, &number) ? NAN : number / f->unit;
    case RATES:
        return call.rates(device, rates) ? NAN : rates[f->which] / f->unit;
    case MEMORY:
        return call.memory(device, memory) ? NAN : (double)memory[f->which] / f->unit;
    }
    return NAN;
}

void gpu_query_take(gpu_query *q)
{
    for (int i = 0; i < q->n; i++) {
        q->asked[i].now = read_field(q->asked[i].field, q->asked[i].function, q->device);
        if (isnan(q->asked[i].now))
            continue;
        q->asked[i].sum += q->asked[i].now;
        q->asked[i].most = fmax(q->asked[i].most, q->asked[i].now); /* a NAN gives way */
        q->asked[i].readings++;
    }
}

/* --- what comes out ----------------------------------------------------------------------------------------------- */

void gpu_query_print_heads(const gpu_query *q, FILE *csv)
{
    for (int i = 0; i < q->n; i++) {
        const gpu_field *f = q->asked[i].field;
        fprintf(csv, *f->text ? ",%s [%s]" : ",%s", f->name, f->text);
    }
}

void gpu_query_print_now(const gpu_query *q, FILE *csv)
{
    for (int i = 0; i < q->n; i++) {
        fputc(',', csv);
        if (!isnan(q->asked[i].now))
            fprintf(csv, "%.10g", q->asked[i].now);
    }
}

void gpu_query_print(const gpu_query *q, FILE *f)
{
    for (int i = 0; i < q->n; i++) {
        const gpu_field *field = q->asked[i].field;
        char value[64] = "-", meaning[256];
        if (q->asked[i].readings)
            snprintf(value, sizeof value, "%.4g %s", q->asked[i].sum / q->asked[i].readings, field->text);
        snprintf(meaning, sizeof meaning, "%s, %s: mean of %d samples; most %.4g", field->name, field->meaning,
                 q->asked[i].readings, q->asked[i].most);
        print_defined(f, i ? "" : "queried", value, q->asked[i].readings ? meaning : field->name);
    }
}

json_t *gpu_query_json(const gpu_query *q)
{
    json_t *all = json_object();
    for (int i = 0; i < q->n; i++) {
        const int n = q->asked[i].readings;
        json_object_set_new(all, q->asked[i].field->name,
                            json_pack("{s:s, s:o, s:o}", "unit", q->asked[i].field->text, "mean",
                                      n ? json_real(q->asked[i].sum / n) : json_null(), "most",
                                      n ? json_real(q->asked[i].most) : json_null()));
    }
    return all;
}
