/*
 * gpu_watch.c - see gpu_watch.h. The few declarations of NVML used here are those of its API reference, version 2
 * entries.
 */
#include "train/gpu_watch.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    unsigned gpu, memory; /* % of time */
} nvml_rates;

typedef struct {
    unsigned long long total, free, used; /* bytes */
} nvml_memory;

typedef struct {
    int (*init)(void);
    int (*shutdown)(void);
    int (*handle)(unsigned index, void **device);
    int (*rates)(void *device, nvml_rates *rates);
    int (*memory)(void *device, nvml_memory *memory);
    int (*power)(void *device, unsigned *milliwatts);
} nvml_functions;

struct gpu_watch {
    void *library, *device;
    nvml_functions nvml;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool stop;
    gpu_use sum; /* of all readings; memory: the most */
};

static bool find(void *library, const char *name, void *function)
{
    *(void **)function = dlsym(library, name);
    return *(void **)function;
}

static bool open_nvml(gpu_watch *w, int gpu)
{
    nvml_functions *n = &w->nvml;
    w->library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return w->library && find(w->library, "nvmlInit_v2", &n->init) && find(w->library, "nvmlShutdown", &n->shutdown) &&
           find(w->library, "nvmlDeviceGetHandleByIndex_v2", &n->handle) &&
           find(w->library, "nvmlDeviceGetUtilizationRates", &n->rates) &&
           find(w->library, "nvmlDeviceGetMemoryInfo", &n->memory) &&
           find(w->library, "nvmlDeviceGetPowerUsage", &n->power) && n->init() == 0 &&
           n->handle((unsigned)gpu, &w->device) == 0;
}

static void read_once(gpu_watch *w)
{
    nvml_rates rates;
    nvml_memory memory;
    unsigned milliwatts;
    if (w->nvml.rates(w->device, &rates) || w->nvml.memory(w->device, &memory) || w->nvml.power(w->device, &milliwatts))
        return;
    w->sum.readings++;
    w->sum.utilisation += rates.gpu;
    w->sum.power += milliwatts / 1000.0;
    if ((int64_t)memory.used > w->sum.memory_bytes)
        w->sum.memory_bytes = (int64_t)memory.used;
}

static void *watch(void *arg)
{
    enum { PERIOD = 100000000 /* ns */, SECOND = 1000000000 };
    gpu_watch *w = arg;
    pthread_mutex_lock(&w->mutex);
    while (!w->stop) {
        read_once(w);
        struct timespec next;
        clock_gettime(CLOCK_REALTIME, &next);
        next.tv_nsec += PERIOD;
        next.tv_sec += next.tv_nsec / SECOND;
        next.tv_nsec %= SECOND;
        pthread_cond_timedwait(&w->ended, &w->mutex, &next);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

static void close_watch(gpu_watch *w)
{
    if (w->library)
        dlclose(w->library);
    free(w);
}

gpu_watch *gpu_watch_begin(int gpu)
{
    gpu_watch *w = calloc(1, sizeof *w);
    if (!w || !open_nvml(w, gpu)) {
        if (w)
            close_watch(w);
        return NULL;
    }
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->ended, NULL);
    if (pthread_create(&w->thread, NULL, watch, w) == 0)
        return w;
    w->nvml.shutdown();
    close_watch(w);
    return NULL;
}

/* The means of what was read, which begins anew. The mutex is held, or nobody reads any more. */
static gpu_use take(gpu_watch *w)
{
    gpu_use use = w->sum;
    w->sum = (gpu_use){0};
    if (use.readings > 0) {
        use.utilisation /= (double)use.readings;
        use.power /= (double)use.readings;
    }
    return use;
}

gpu_use gpu_watch_take(gpu_watch *w)
{
    if (!w)
        return (gpu_use){0};
    pthread_mutex_lock(&w->mutex);
    const gpu_use use = take(w);
    pthread_mutex_unlock(&w->mutex);
    return use;
}

gpu_use gpu_watch_end(gpu_watch *w)
{
    if (!w)
        return (gpu_use){0};
    pthread_mutex_lock(&w->mutex);
    w->stop = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->mutex);
    pthread_join(w->thread, NULL);
    const gpu_use use = take(w);
    w->nvml.shutdown();
    close_watch(w);
    return use;
}
