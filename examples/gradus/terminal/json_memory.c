/* json_memory.c - see json_memory.h. */
#include "terminal/json_memory.h"

#include <jansson.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_bool failed;

static void *take(size_t size)
{
    void *p = malloc(size);
    if (!p)
        failed = true;
    return p;
}

void json_memory_watch(void)
{
    json_set_alloc_funcs(take, free);
}

bool json_memory_failed(void)
{
    return failed;
}
