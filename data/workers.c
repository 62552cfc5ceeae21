/* workers.c - a pool of threads, borrowed or opened. */
#include "data/workers.h"

bool gr__workers_open(gr_context *ctx, gr_workers *workers)
{
    *workers = (gr_workers){0};
    if (!gr_ok(ctx))
        return false;
    workers->exec.pool = ctx->device->pool;
    if (workers->exec.pool)
        return true;
    int threads = ctx->options.threads > 0 ? ctx->options.threads : gr__usable_cpus();
    workers->opened = workers->exec.pool = gr__pool_open(threads);
    return workers->opened ||
           gr__fail(ctx, GR_NO_MEMORY, "the system gives no memory or no threads for %d workers; ask for fewer",
                    threads);
}

void gr__workers_close(gr_workers *workers)
{
    gr__pool_close(workers->opened);
    *workers = (gr_workers){0};
}
