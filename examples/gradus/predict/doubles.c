/* doubles.c - see doubles.h. */
#include "predict/doubles.h"

#include <stdlib.h>

bool doubles_of(const gr_tensor *t, double *values)
{
    const int64_t n = gr_count(t);
    if (gr_type_of(t) == GR_F64)
        return gr_download(t, values);
    float *raw = malloc((size_t)n * sizeof *raw);
    const bool good = raw && gr_download(t, raw);
    for (int64_t i = 0; good && i < n; i++)
        values[i] = (double)raw[i];
    free(raw);
    return good;
}
