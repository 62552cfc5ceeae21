/* copies.c - copies in halves that a step keeps beside the weights that it changes (gr_call.copy). */
#include <string.h>

#include "core/half.h"
#include "kernels/simt/simt.h"
#include "tests/table/device.h"
#include "tests/table/report.h"

/* One call with a copy, and one without on the same numbers. */
typedef struct {
    const table_device *device;
    const row *row;
    const gr_kernel *kernel;
    int weights, copy; /* buffers */
    trial with, without;
} pair;

static void open_side(const pair *p, const truth *t, trial *side, gr_type half)
{
    trial_open_halves(side, p->row, &t->run.shapes, half);
    side->device = p->device->memory ? p->device->memory() : NULL;
    side->emulated = p->device->emulated;
}

/* A call of halves by the kernel for floats has no copy. */
static bool is_widened(const pair *p)
{
    const bool halves = p->row->op->in[0].type == GR_SLOT_HALF;
    return halves && !p->row->halves && !p->kernel->halves(&p->without.call, GR_FORWARD);
}

static void run(const pair *p, trial *side, const char *check)
{
    const char *misdeed = trial_run(side, p->kernel, GR_FORWARD, NULL);
    if (misdeed)
        report_failure(p->row, p->device->name, "%s: the kernel %s", check, misdeed);
    if (p->device->emulated)
        gr__simt_clear_fault();
}

static bool same(const gr_tensor *a, const void *b)
{
    return !a->data || !memcmp(a->data, b, gr__bytes(a));
}

/* Values that a trial opens with; what is computed is the same bits with and without. */
static void check_values(pair *p)
{
    run(p, &p->with, "with a copy");
    run(p, &p->without, "without a copy");
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (i != p->copy && !same(&p->with.buffers[i].t, p->without.buffers[i].t.data))
            report_failure(p->row, p->device->name, "with a copy: other bits in buffer %d", i);
    const gr_type type = p->with.call.copy->type;
    const uint16_t *bits = p->with.call.copy->data;
    for (int64_t i = 0; i < trial_count(&p->with, p->copy); i++) {
        const double w = trial_get(&p->with, p->weights, i);
        if (bits[i] == (type == GR_F16 ? gr__f16_of(w) : gr__bf16_of(w)))
            continue;
        report_failure(p->row, p->device->name, "copy[%lld] in %s is %.9g, the weight %.9g", (long long)i,
                       gr_type_name(type), trial_get(&p->with, p->copy, i), w);
        return;
    }
}

/* Behind check_values, and so not of garbage. */
static void check_skip(pair *p)
{
    p->with.state.skip = 1;
    run(p, &p->with, "skip with a copy");
    if (!same(p->with.call.copy, p->with.buffers[p->copy].before))
        report_failure(p->row, p->device->name, "skip: the copy was changed");
}

void device_check_copies(const table_device *d, const truth *t)
{
    for (int type = 0; type < 2; type++) {
        const gr_type half = type ? GR_BF16 : GR_F16;
        pair p = {.device = d, .row = t->run.row, .kernel = &d->kernels[t->run.row->op->id]};
        if (!table_device_takes(d, half))
            continue;
        while (!(p.kernel->copies >> p.weights & 1))
            p.weights++;
        open_side(&p, t, &p.with, half);
        open_side(&p, t, &p.without, half);
        p.copy = trial_open_copy(&p.with, p.weights, half);
        if (!is_widened(&p)) {
            check_values(&p);
            check_skip(&p);
        }
        trial_close(&p.with);
        trial_close(&p.without);
    }
}
