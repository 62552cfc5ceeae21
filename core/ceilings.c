/* ceilings.c - what the machine allows, measured: arithmetic in registers, reading and copying memory. */
#include "core/clock.h"
#include "core/context.h"

enum { FAR = 256 << 20 };     /* bytes, some times a third-level cache */
enum { SMALLEST = 16 << 10 }; /* bytes a thread */
enum { AT_ONCE = 16 << 20 };  /* bytes that a call should move: 0.1 ms, far more than the call itself takes */
enum { ALIGNMENT = 4 << 10 }; /* of sizes: whole vectors in either half */

static const double long_enough = 1.2, a_while = 0.02; /* seconds: in all, and at a time */

/* The operands and who works on them. */
typedef struct {
    const gr_probes *probes;
    gr_exec exec;
    char *block; /* bytes: read as a whole, its first half copied into its second; then GR__PROBE_RESULT more */
    size_t bytes;
    int times;
} bench;

static double arithmetic(const bench *m)
{
    return m->probes->arithmetic(&m->exec, m->block + m->bytes);
}

static double reading(const bench *m)
{
    m->probes->read(&m->exec, m->block, m->bytes, m->times, m->block + m->bytes);
    return (double)m->bytes * m->times;
}

static double copying(const bench *m)
{
    m->probes->copy(&m->exec, m->block + m->bytes / 2, m->block, m->bytes / 2, m->times);
    return (double)m->bytes * m->times;
}

static double copying_cached(const bench *m)
{
    m->probes->copy_cached(&m->exec, m->block + m->bytes / 2, m->block, m->bytes / 2, m->times);
    return (double)m->bytes * m->times;
}

/* Raises best to the rate of work (which returns how much it did): a ceiling is what was reached undisturbed. */
static void keep_best(const bench *m, double (*work)(const bench *m), double seconds, double *best)
{
    for (double begin = gr__seconds(), start = begin; start - begin < seconds; start = gr__seconds()) {
        double done = work(m), rate = done / (gr__seconds() - start);
        *best = rate > *best ? rate : *best;
    }
}

/* In turns: whatever else disturbs the machine for a moment does not hit one of them alone. */
static gr_ceilings measure(const bench *m, double seconds, int at_least)
{
    gr_ceilings found = {0};
    const double each = seconds / 4 < a_while ? seconds / 4 : a_while, begin = gr__seconds();
    for (int turn = 0; turn < at_least || gr__seconds() - begin < seconds; turn++) {
        keep_best(m, copying, each, &found.copy);
        if (m->probes->copy_cached)
            keep_best(m, copying_cached, each, &found.copy);
        keep_best(m, reading, each, &found.read);
        keep_best(m, arithmetic, each, &found.flops);
    }
    return found;
}

static gr_ceilings measure_at(gr_context *ctx, size_t bytes, double seconds, int at_least)
{
    const gr_device *d = ctx->device;
    gr_ceilings found = {0};
    void *block = NULL;
    if (!gr__persistent_alloc(ctx, bytes + GR__PROBE_RESULT, "the measurement of the machine's limits", &block))
        return found;
    const bench m = {.probes = d->probes,
                     .exec = {.pool = d->pool, .queue = d->queue},
                     .block = block,
                     .bytes = bytes,
                     .times = bytes < AT_ONCE ? (int)(AT_ONCE / bytes) : 1};
    m.probes->copy(&m.exec, m.block, m.block + bytes / 2, bytes / 2, 1); /* memory never written is no memory yet */
    m.probes->copy(&m.exec, m.block + bytes / 2, m.block, bytes / 2, 1);
    found = measure(&m, seconds, at_least);
    gr__persistent_free(ctx, block, bytes + GR__PROBE_RESULT);
    return found;
}

gr_ceilings gr_measure_ceilings(gr_context *ctx)
{
    enum { AT_LEAST = 5 }; /* turns, however slow the machine is */
    if (!gr_ok(ctx) || ctx->options.plan_only)
        return (gr_ceilings){0};
    return measure_at(ctx, FAR, long_enough, AT_LEAST);
}

gr_ceilings gr_measure_ceilings_at(gr_context *ctx, int64_t bytes, double seconds)
{
    if (!gr_ok(ctx) || ctx->options.plan_only)
        return (gr_ceilings){0};
    const int64_t least = (int64_t)SMALLEST * gr_thread_count(ctx);
    const int64_t wanted = bytes < least ? least : bytes < FAR ? bytes : FAR;
    return measure_at(ctx, (size_t)((wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT), seconds, 1);
}
