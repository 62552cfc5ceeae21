/* open_on_isa.h - a context on kernels of an instruction set that is not the processor's own choice. */
#ifndef GRADUS_OPEN_ON_ISA_H
#define GRADUS_OPEN_ON_ISA_H

#include <stdlib.h>
#include <string.h>

#include "gradus.h"

/* gr_open under GRADUS_CPU=isa; what that was is found again by the other tests. */
static inline gr_context *open_on_isa(const char *isa, const gr_options *options)
{
    const char *before = getenv("GRADUS_CPU");
    char *kept = before ? strdup(before) : NULL;
    setenv("GRADUS_CPU", isa, 1);
    gr_context *ctx = gr_open(options);
    if (kept)
        setenv("GRADUS_CPU", kept, 1);
    else
        unsetenv("GRADUS_CPU");
    free(kept);
    return ctx;
}

#endif
