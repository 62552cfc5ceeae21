/* launch.c - a grid, block after block, within the limits of real grids (compute capability 7.5 to 9.0). */
#include <stdlib.h>

#include "kernels/simt/machine.h"

enum { GRID_YZ = 65535, BLOCK_XY = 1024, BLOCK_Z = 64 };

static gr__simt_allowance *find_allowance(gr__simt_machine *m, const void *function)
{
    for (int i = 0; i < m->allowed_count; i++)
        if (m->allowed[i].function == function)
            return &m->allowed[i];
    return NULL;
}

void gr__simt_allow_shared(const void *function, int bytes, const char *file, int line)
{
    gr__simt_machine *m = gr__simt_here();
    if (!m || m->fault[0])
        return;
    if (bytes < 0 || bytes > GR__SIMT_SHARED_MAX) {
        gr__simt_report(m, "shared memory: %s:%d allows %d bytes, a block can have %d", gr__simt_short(file), line,
                        bytes, GR__SIMT_SHARED_MAX);
        return;
    }
    gr__simt_allowance *a = find_allowance(m, function);
    if (!a) {
        gr__simt_allowance *more = realloc(m->allowed, (size_t)(m->allowed_count + 1) * sizeof *more);
        if (!more) {
            gr__simt_report(m, "out of memory: GR_ALLOW_SHARED");
            return;
        }
        m->allowed = more;
        a = &more[m->allowed_count++];
        a->function = function;
    }
    a->bytes = (size_t)bytes;
}

static bool fits(const gr__simt_config *c)
{
    const uint3 g = c->grid, b = c->block;
    return g.x && g.y && g.z && g.x <= INT32_MAX && g.y <= GRID_YZ && g.z <= GRID_YZ && b.x && b.y && b.z &&
           b.x <= BLOCK_XY && b.y <= BLOCK_XY && b.z <= BLOCK_Z && (uint64_t)b.x * b.y * b.z <= GR__SIMT_THREADS;
}

/* Dynamic memory as far as it is allowed; variables beside it, together what a block can have. */
static bool shared_memory_fits(gr__simt_machine *m, const gr__simt_config *c)
{
    const gr__simt_allowance *a = find_allowance(m, c->function);
    const size_t dynamic = a && a->bytes > GR__SIMT_SHARED ? a->bytes : GR__SIMT_SHARED;
    m->shared.limit =
        c->dynamic_shared > GR__SIMT_SHARED || dynamic > GR__SIMT_SHARED ? GR__SIMT_SHARED_MAX : GR__SIMT_SHARED;
    return c->dynamic_shared <= dynamic;
}

static void run_grid(gr__simt_machine *m, const gr__simt_config *c)
{
    if (!gr__simt_shadow_launch(m))
        gr__simt_report(m, "out of memory: shadow of the shared memory");
    gr__simt_count_launch(m);
    gr__simt_watch_launch(m);
    for (unsigned z = 0; z < c->grid.z && !m->fault[0]; z++)
        for (unsigned y = 0; y < c->grid.y && !m->fault[0]; y++)
            for (unsigned x = 0; x < c->grid.x && !m->fault[0]; x++)
                gr__simt_run_block(m, (uint3){x, y, z});
}

void gr__simt_run_launch(gr__simt_machine *m, const gr__simt_config *c)
{
    if (m->fault[0])
        return;
    m->launch = c;
    if (!fits(c))
        gr__simt_report(m, "launch: grid (%u,%u,%u) of blocks (%u,%u,%u) at %s:%d", c->grid.x, c->grid.y, c->grid.z,
                        c->block.x, c->block.y, c->block.z, gr__simt_short(c->file), c->line);
    else if (!shared_memory_fits(m, c))
        gr__simt_report(m, "shared memory: %zu dynamic bytes at %s:%d, without a GR_ALLOW_SHARED for them",
                        c->dynamic_shared, gr__simt_short(c->file), c->line);
    else
        run_grid(m, c);
    m->launch = NULL;
}
