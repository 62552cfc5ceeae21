/* ceilings.c - what the machine allows, measured: arithmetic in registers, reading and copying memory. */
#include "core/clock.h"
#include "core/context.h"

enum { BUFFER = 128 << 20 }; /* bytes, some times a third-level cache */
enum { AT_LEAST = 5 };       /* turns, however slow the machine is */

static const double long_enough = 1.2, a_while = 0.02; /* seconds: in all, and at a time */

/* The two buffers and who works on them. */
typedef struct {
    const gr_probes *probes;
    gr_exec exec;
    void *a, *b; /* BUFFER bytes each */
} bench;

static double arithmetic(const bench *m)
{
    return m->probes->arithmetic(&m->exec, m->a);
}

static double reading(const bench *m)
{
    m->probes->read(&m->exec, m->a, BUFFER, m->b);
    return BUFFER;
}

static double copying(const bench *m)
{
    m->probes->copy(&m->exec, m->b, m->a, BUFFER);
    return 2.0 * BUFFER;
}

/* Raises best to the rate of work (which returns how much it did): a ceiling is what was reached undisturbed. */
static void keep_best(const bench *m, double (*work)(const bench *m), double *best)
{
    for (double begin = gr__seconds(), start = begin; start - begin < a_while; start = gr__seconds()) {
        double done = work(m), rate = done / (gr__seconds() - start);
        *best = rate > *best ? rate : *best;
    }
}

/* In turns: whatever else disturbs the machine for a moment does not hit one of them alone. */
static gr_ceilings measure(const bench *m)
{
    gr_ceilings found = {0};
    double begin = gr__seconds();
    for (int turn = 0; turn < AT_LEAST || gr__seconds() - begin < long_enough; turn++) {
        keep_best(m, copying, &found.copy);
        keep_best(m, reading, &found.read);
        keep_best(m, arithmetic, &found.flops);
    }
    return found;
}

gr_ceilings gr_measure_ceilings(gr_context *ctx)
{
    gr_ceilings found = {0};
    if (!gr_ok(ctx) || ctx->options.plan_only)
        return found;
    bench m = {ctx->device->probes, {.pool = ctx->device->pool, .queue = ctx->device->queue}, NULL, NULL};
    if (gr__persistent_alloc(ctx, BUFFER, "the measurement of the machine's limits", &m.a) &&
        gr__persistent_alloc(ctx, BUFFER, "the measurement of the machine's limits", &m.b)) {
        m.probes->copy(&m.exec, m.a, m.b, BUFFER); /* memory that was never written is no memory yet */
        m.probes->copy(&m.exec, m.b, m.a, BUFFER);
        found = measure(&m);
    }
    if (m.b)
        gr__persistent_free(ctx, m.b, BUFFER);
    if (m.a)
        gr__persistent_free(ctx, m.a, BUFFER);
    return found;
}
