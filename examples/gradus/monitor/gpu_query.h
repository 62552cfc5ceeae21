/*
 * gpu_query.h - numbers of a GPU by the names that nvidia-smi --query-gpu has for them, read through NVML, which comes
 * with the driver and is opened at run time.
 */
#ifndef GRADUS_MONITOR_GPU_QUERY_H
#define GRADUS_MONITOR_GPU_QUERY_H

#include <jansson.h>
#include <stdio.h>

typedef struct gpu_field gpu_field;

enum { MOST_FIELDS = 16 };

typedef struct {
    void *library, *device;
    int (*shutdown)(void);
    int n;
    struct {
        const gpu_field *field;
        void *function;        /* of NVML; NULL: this driver has none */
        double now, sum, most; /* in the field's unit; NAN: the GPU does not tell */
        int readings;
    } asked[MOST_FIELDS];
} gpu_query;

/*
 * Opens GPU number gpu for a list such as "utilization.gpu,power.draw". Returns 0 or an exit code, complained of; close
 * in either case.
 */
int gpu_query_open(gpu_query *q, const char *list, int gpu);
void gpu_query_close(gpu_query *q);

void gpu_query_take(gpu_query *q); /* a sample */

/* Of a file with a line for each sample: ",name [unit]" for each field, and ",12.5". */
void gpu_query_print_heads(const gpu_query *q, FILE *csv);
void gpu_query_print_now(const gpu_query *q, FILE *csv);

/* Mean and most of each field, with what it is. */
void gpu_query_print(const gpu_query *q, FILE *f);

/* {"utilization.gpu": {"unit", "mean", "most"}}, a new reference. */
json_t *gpu_query_json(const gpu_query *q);

#endif
