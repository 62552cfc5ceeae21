/* energy.c - see energy.h; Documentation/power/powercap/powercap.rst of the kernel. */
#include "train/energy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "terminal/system.h"

static bool read_number(const char *folder, const char *name, double *value)
{
    char path[192], text[64];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!read_system(path, NULL, text, sizeof text))
        return false;
    *value = strtod(text, NULL);
    return true;
}

energy energy_open(const char *folder)
{
    energy e = {0};
    for (int i = 0; i < MOST_PACKAGES; i++) { /* intel-rapl:0 is a package (AMD's too); intel-rapl:0:0 a part of one */
        snprintf(e.path[e.n], sizeof *e.path, "%s/intel-rapl:%d", folder, i);
        e.n += read_number(e.path[e.n], "energy_uj", &e.last[e.n]) &&
               read_number(e.path[e.n], "max_energy_range_uj", &e.range[e.n]);
    }
    return e;
}

double energy_take(energy *e)
{
    double sum = e->n ? 0 : NAN;
    for (int i = 0; i < e->n; i++) {
        double now;
        if (!read_number(e->path[i], "energy_uj", &now))
            return NAN;
        sum += now - e->last[i] + (now < e->last[i] ? e->range[i] : 0);
        e->last[i] = now;
    }
    return sum / 1e6;
}
