/* environment.c - see environment.h. */
#include "kernels/simt/environment.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char complaint[256];

/* NULL: the variable is not set, or empty. */
static const char *text_of(const char *variable)
{
    const char *text = getenv(variable);
    return text && *text ? text : NULL;
}

bool gr__simt_environment_number(const char *variable, uint64_t usual, uint64_t least, uint64_t most, uint64_t *number,
                                 const char **why)
{
    const char *text = text_of(variable);
    char *end = NULL;
    *number = usual;
    if (!text)
        return true;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 0);
    if (isdigit((unsigned char)*text) && !*end && !errno && n >= least && n <= most) {
        *number = n;
        return true;
    }
    snprintf(complaint, sizeof complaint, "%s is \"%.40s\"; it must be a whole number from %llu to %llu, or unset",
             variable, text, (unsigned long long)least, (unsigned long long)most);
    *why = complaint;
    return false;
}

static gr__simt_order order_asked(const char **why)
{
    static const char *const names[] = {
        [GR__SIMT_FORWARD] = "forward", [GR__SIMT_REVERSE] = "reverse", [GR__SIMT_RANDOM] = "random"};
    const char *text = text_of("GRADUS_SIMT_ORDER");
    for (int i = 0; text && i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(text, names[i]))
            return (gr__simt_order)i;
    if (text) {
        snprintf(complaint, sizeof complaint,
                 "GRADUS_SIMT_ORDER is \"%.40s\"; it must be forward, reverse or random, or unset", text);
        *why = complaint;
    }
    return GR__SIMT_FORWARD;
}

gr__simt_wishes gr__simt_environment(const char **why)
{
    gr__simt_wishes w;
    uint64_t cores, multiprocessors;
    *why = NULL;
    w.order = order_asked(why);
    gr__simt_environment_number("GRADUS_SIMT_SEED", 1, 0, UINT64_MAX, &w.seed, why);
    gr__simt_environment_number("GRADUS_SIMT_TENSOR_CORES", 80, 70, 999, &cores, why);
    gr__simt_environment_number("GRADUS_SIMT_MULTIPROCESSORS", 108, 1, 10000, &multiprocessors, why);
    w.tensor_cores = (int)cores;
    w.multiprocessors = (int)multiprocessors;
    return w;
}
