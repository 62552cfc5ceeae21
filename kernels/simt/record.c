/*
 * record.c - launches as lines of JSON, where the environment asks for them (simt.h):
 *
 *   {"kernel":"relu<float>","unit":"kernels/cuda/elementwise.cu","module":"gradus","base":4096,"function":8192,
 *    "grid":[4,1,1],"block":[256,1,1],"shared":0,"parameters":"0010...","pointers":[0,8]}
 *
 * function: the kernel's address, in a module that begins at base; its symbol tells which instance of a template it is.
 * parameters: their bytes as a GPU's kernel finds them; pointers: at which of these stands the address of a buffer.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/machine.h"

static struct {
    const char *path; /* NULL: nobody asked */
    FILE *file;       /* NULL: it cannot be written */
    int error;
    bool alone; /* launches are not run */
} record;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_at_environment(void)
{
    const char *path = getenv("GRADUS_SIMT_LAUNCHES"), *alone = getenv("GRADUS_SIMT_LAUNCHES_ALONE");
    if (!path || !*path)
        return;
    record.path = path;
    record.alone = alone && *alone && strcmp(alone, "0") != 0;
    record.file = fopen(path, "w");
    record.error = errno;
}

bool gr__simt_writes_down(void)
{
    pthread_once(&once, look_at_environment);
    return record.path;
}

static void write_parameters(gr__simt_machine *m, const unsigned char *parameters, size_t bytes)
{
    const char *comma = "";
    fputs("\"parameters\":\"", record.file);
    for (size_t i = 0; i < bytes; i++)
        fprintf(record.file, "%02x", parameters[i]);
    fputs("\",\"pointers\":[", record.file);
    for (size_t i = 0; i + sizeof(void *) <= bytes; i += sizeof(void *)) {
        const void *p;
        memcpy(&p, parameters + i, sizeof p);
        if (gr__simt_find_buffer(m, p)) {
            fprintf(record.file, "%s%zu", comma, i);
            comma = ",";
        }
    }
    fputs("]}\n", record.file);
}

static void write_launch(gr__simt_machine *m, const gr__simt_config *c, const unsigned char *parameters, size_t bytes)
{
    Dl_info module = {0};
    dladdr(c->function, &module);
    flockfile(record.file); /* several contexts may launch at a time */
    fprintf(record.file, "{\"kernel\":\"%s\",\"unit\":\"%s\",\"module\":\"%s\",\"base\":%zu,\"function\":%zu,",
            c->kernel, c->unit, module.dli_fname ? module.dli_fname : "", (size_t)module.dli_fbase,
            (size_t)c->function);
    fprintf(record.file, "\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"shared\":%zu,", c->grid.x, c->grid.y, c->grid.z,
            c->block.x, c->block.y, c->block.z, c->dynamic_shared);
    write_parameters(m, parameters, bytes);
    funlockfile(record.file);
}

bool gr__simt_write_down(const gr__simt_config *c, const unsigned char *parameters, size_t bytes)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m || m->fault[0])
        return false;
    if (!record.file)
        gr__simt_report(m, "GRADUS_SIMT_LAUNCHES: %s cannot be written: %s", record.path, strerror(record.error));
    else
        write_launch(m, c, parameters, bytes);
    return !record.alone;
}
