/* json_memory.c - see json_memory.h. */
#include "terminal/json_memory.h"

#include <errno.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "terminal/complain.h"

enum { RESERVE = 1 << 20, ALIGNMENT = alignof(max_align_t) };

static alignas(max_align_t) char reserve[RESERVE]; /* its pages are taken where they are needed */
static atomic_size_t used;
static atomic_bool failed;

static void *take_reserve(size_t size)
{
    const size_t rounded = size + (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT;
    const size_t at = rounded < size || rounded > RESERVE ? RESERVE : atomic_fetch_add(&used, rounded);
    if (at <= RESERVE - rounded)
        return reserve + at;
    complain_at_last();
    complain(GR_NO_MEMORY, "", "out of host memory within a JSON text");
    _exit(GR_NO_MEMORY);
}

static void *take(size_t size)
{
    void *p = malloc(size);
    if (p)
        return p;
    failed = true;
    return take_reserve(size);
}

static void give(void *p)
{
    const uintptr_t at = (uintptr_t)p, first = (uintptr_t)reserve;
    if (at < first || at >= first + RESERVE)
        free(p);
}

void json_memory_watch(void)
{
    json_set_alloc_funcs(take, give);
}

bool json_memory_failed(void)
{
    return failed;
}

/* Tells by errno what the system did not do, as "it cannot be opened". */
static void blame_system(json_fault *why, const char *what)
{
    why->code = errno == ENOMEM ? GR_NO_MEMORY : GR_IO_ERROR;
    snprintf(why->text, sizeof why->text, "%s: %s", what, strerror(errno));
}

/* The library takes a failure to read for the file's end. */
static json_t *load(FILE *f, json_fault *why)
{
    json_error_t error;
    json_t *value = json_loadf(f, JSON_REJECT_DUPLICATES, &error);
    why->line = error.line;
    snprintf(why->text, sizeof why->text, "%s", error.text);
    if (!ferror(f))
        return value;
    json_decref(value);
    blame_system(why, "it cannot be read");
    return NULL;
}

json_t *json_read(const char *path, json_fault *why)
{
    *why = (json_fault){.code = GR_BAD_DATA};
    errno = 0;
    FILE *f = fopen(path, "re");
    json_t *value = f ? load(f, why) : NULL;
    if (!f) {
        blame_system(why, "it cannot be opened");
        if (errno == ENOENT || errno == ENOTDIR)
            why->code = GR_BAD_DATA;
    }
    if (!value && errno == ENOMEM) /* of the stream's buffers, which are not the library's */
        failed = true;
    if (f)
        fclose(f);
    return value;
}

char *json_text(const json_t *value, size_t flags)
{
    const size_t size = json_dumpb(value, NULL, 0, flags);
    char *text = size > 0 ? malloc(size + 1) : NULL;
    if (!text) {
        if (value)
            failed = true;
        return NULL;
    }
    json_dumpb(value, text, size, flags);
    text[size] = '\0';
    return text;
}
