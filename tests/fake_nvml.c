/*
 * fake_nvml.c - stands in for libnvidia-ml.so.1: one GPU, and readings that test_gpu_watch.c and cli/test_monitor.py
 * know. It lacks functions, as old drivers do.
 */
static unsigned reading;

typedef struct {
    unsigned gpu, memory;
} rates;

typedef struct {
    unsigned long long total, free, used;
} memory;

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetUtilizationRates(void *device, rates *r);
int nvmlDeviceGetMemoryInfo(void *device, memory *m);
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees);
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz);
int nvmlDeviceGetFanSpeed(void *device, unsigned *percent);

int nvmlInit_v2(void)
{
    reading = 0;
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &reading;
    return index == 0 ? 0 : 2; /* NVML_ERROR_INVALID_ARGUMENT */
}

int nvmlDeviceGetUtilizationRates(void *device, rates *r)
{
    (void)device;
    *r = (rates){10 * reading, 0};
    return 0;
}

int nvmlDeviceGetMemoryInfo(void *device, memory *m)
{
    (void)device;
    *m = (memory){4000, 4000 - 1000 - reading, 1000 + reading};
    return 0;
}

/* The last of the three that a reading asks for. */
int nvmlDeviceGetPowerUsage(void *device, unsigned *milliwatts)
{
    (void)device;
    *milliwatts = 1000 * (100 + reading++);
    return 0;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *degrees)
{
    (void)device;
    *degrees = 40;
    return sensor == 0 ? 0 : 2;
}

/* Graphics 1000, multiprocessors 1001, memory 1002. */
int nvmlDeviceGetClockInfo(void *device, int kind, unsigned *megahertz)
{
    (void)device;
    *megahertz = 1000 + (unsigned)kind;
    return 0;
}

/* A board without a fan. */
int nvmlDeviceGetFanSpeed(void *device, unsigned *percent)
{
    (void)device;
    *percent = 99;
    return 3; /* NVML_ERROR_NOT_SUPPORTED */
}
