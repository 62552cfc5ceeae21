/* launch.c - a grid, block after block in some order, within real grids' limits (compute capability 7.5 to 9.0). */
#include <inttypes.h>
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

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* How far one block is from the next in a grid of n: in random order without a factor in common, so that all come. */
static uint64_t stride_of(gr__simt_machine *m, uint64_t n)
{
    uint64_t stride = m->order == GR__SIMT_RANDOM ? m->seed * 0x9E3779B97F4A7C15 % n + 1 : 1;
    while (common_divisor(stride, n) != 1)
        stride++;
    return m->order == GR__SIMT_REVERSE ? n - stride : stride;
}

static void run_grid(gr__simt_machine *m, const gr__simt_config *c)
{
    const uint64_t blocks = (uint64_t)c->grid.x * c->grid.y * c->grid.z, stride = stride_of(m, blocks);
    uint64_t next = m->order == GR__SIMT_REVERSE ? blocks - 1 : 0;
    if (!gr__simt_shadow_launch(m))
        gr__simt_report(m, "out of memory: shadow of the shared memory");
    gr__simt_count_launch(m);
    gr__simt_watch_launch(m);
    if (c->cooperative)
        gr__simt_grid_open(m, blocks);
    do {
        for (uint64_t ran = 0; ran < blocks && !m->fault[0]; ran++, next = (next + stride) % blocks) {
            const uint3 index = {(unsigned)(next % c->grid.x), (unsigned)(next / c->grid.x % c->grid.y),
                                 (unsigned)(next / c->grid.x / c->grid.y)};
            if (c->cooperative)
                gr__simt_run_grid_block(m, ran, index);
            else
                gr__simt_run_block(m, index);
        }
    } while (gr__simt_grid_goes_on(m));
    gr__simt_grid_close(m);
}

void gr__simt_run_launch(gr__simt_machine *m, const gr__simt_config *c)
{
    if (m->fault[0])
        return;
    m->launch = c;
    m->launches++;
    if (!fits(c))
        gr__simt_report(m, "launch: grid (%u,%u,%u) of blocks (%u,%u,%u), %" PRIu64 " threads in each, at %s:%d",
                        c->grid.x, c->grid.y, c->grid.z, c->block.x, c->block.y, c->block.z,
                        (uint64_t)c->block.x * c->block.y * c->block.z, gr__simt_short(c->file), c->line);
    else if (c->cooperative && (uint64_t)c->grid.x * c->grid.y * c->grid.z > c->most_blocks)
        gr__simt_report(m, "launch: cooperative, of %" PRIu64 " blocks where %" PRIu64 " fit at a time, at %s:%d",
                        (uint64_t)c->grid.x * c->grid.y * c->grid.z, c->most_blocks, gr__simt_short(c->file), c->line);
    else if (!shared_memory_fits(m, c))
        gr__simt_report(m, "shared memory: %zu dynamic bytes at %s:%d, more than were allowed", c->dynamic_shared,
                        gr__simt_short(c->file), c->line);
    else
        run_grid(m, c);
    m->launch = NULL;
}
