/*
 * native_halves.c - a device's kernels for halves beside its kernels for floats, on the same numbers. Both sum in
 * floats, so their results differ by the order of the sums and by one rounding to a half. How far both are from the
 * truth is the matter of halves.c; here is what the engine may count on: guards, garbage, the same bits, NaN.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/simt.h"
#include "tests/table/device.h"
#include "tests/table/report.h"

typedef struct {
    const table_device *device;
    const truth *truth;
    const row *row;
    const gr_kernel *kernel;
    gr_pool *const *pools; /* 1, 2 and 5 threads; NULL: the device has none */
    trial half, full;      /* of halves, and of floats */
} pair;

static void pair_open(pair *p, const table_device *d, const truth *t, gr_type type, gr_pool *const pools[POOLS])
{
    const row *r = t->run.row;
    *p =
        (pair){.device = d, .truth = t, .row = r, .kernel = &d->kernels[r->op->id], .pools = d->threads ? pools : NULL};
    trial_open_halves(&p->half, r, &t->run.shapes, type);
    trial_open(&p->full, r, &t->run.shapes, GR_F32);
    p->half.device = p->full.device = d->memory ? d->memory() : NULL;
    p->half.emulated = p->full.emulated = d->emulated;
}

static void pair_close(pair *p)
{
    trial_close(&p->half);
    trial_close(&p->full);
}

static bool is_result(const pair *p, gr_pass pass, int buffer)
{
    if (!trial_count(&p->half, buffer) || buffer < GR_MAX_IN || buffer == TRIAL_D_OUT)
        return false;
    if (buffer < trial_d_in(0))
        return pass == GR_FORWARD && p->half.call.out[buffer - trial_out(0)];
    return pass == GR_BACKWARD && p->half.call.d_in[buffer - trial_d_in(0)];
}

/* An input that an update writes. */
static bool is_changed(const pair *p, gr_pass pass, int buffer)
{
    return pass == GR_FORWARD && buffer < GR_MAX_IN && trial_count(&p->half, buffer) &&
           (p->row->op->in[buffer].flags & GR_SLOT_CHANGED);
}

/*
 * Results are garbage, or drawn where they are added to; what is read is drawn, in backward also what forward had
 * saved.
 */
static void reset(pair *p, gr_pass pass, unsigned mask)
{
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        const bool saved = pass == GR_BACKWARD && i >= trial_out(0) && i < trial_d_in(0);
        const bool added =
            pass == GR_BACKWARD && i >= trial_d_in(0) && i < TRIAL_D_OUT && mask >> (i - trial_d_in(0)) & 1;
        if (!trial_count(&p->half, i) || saved)
            continue;
        if (is_result(p, pass, i) && !added)
            trial_garbage(&p->half, i);
        else
            trial_draw(&p->half, i);
        if (is_result(p, pass, i) && !added)
            trial_garbage(&p->full, i);
        else
            trial_copy(&p->full, &p->half, i);
    }
    p->half.call.accumulate = p->full.call.accumulate = mask;
}

static void run_in(pair *p, trial *t, gr_pass pass, const char *check, int pool)
{
    const char *misdeed = trial_run(t, p->kernel, pass, p->pools ? p->pools[pool] : NULL);
    if (misdeed)
        report_failure(p->row, p->device->name, "%s, %s in halves: the kernel %s",
                       pass == GR_FORWARD ? "forward" : "backward", check, misdeed);
    if (p->device->emulated)
        gr__simt_clear_fault();
}

static void run_one(pair *p, trial *t, gr_pass pass, const char *check)
{
    run_in(p, t, pass, check, 1);
}

/* Distance of neighbouring halves near v. */
static double ulp(gr_type type, double v)
{
    int exponent;
    frexp(v, &exponent);
    const int bits = type == GR_F16 ? 11 : 8, least = type == GR_F16 ? -24 : -133;
    return ldexp(1, v != 0 && exponent - bits > least ? exponent - bits : least);
}

static void compare_buffer(const pair *p, int buffer, const char *check)
{
    const gr_type type = p->half.buffers[buffer].t.type;
    const bool half = type == GR_F16 || type == GR_BF16;
    const int64_t count = trial_count(&p->half, buffer);
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(trial_get(&p->full, buffer, i)));
    for (int64_t i = 0; i < count; i++) {
        const double got = trial_get(&p->half, buffer, i), wanted = trial_get(&p->full, buffer, i);
        const double allowed = (half ? ulp(type, wanted) : 0) + 32 * FLT_EPSILON * most +
                               (p->device->threads ? 0 : truth_cut(p->truth, buffer, i)) + /* cpu: no tensor cores */
                               truth_rounded(p->truth, p->kernel, p->half.call.in[0]->type, buffer, i);
        if (fabs(got - wanted) <= allowed || got == wanted || (isnan(got) && isnan(wanted)) ||
            (type == GR_F16 && fabs(wanted) > 65504))
            continue;
        report_failure(p->row, p->device->name, "%s in %s: %s[%lld] is %.9g, of floats %.9g", check,
                       gr_type_name(p->half.call.in[0]->type), buffer >= trial_d_in(0) ? "a gradient" : "a result",
                       (long long)i, got, wanted);
        return;
    }
}

/* Every result, but which of two maxima that a rounding makes equal was chosen. */
static void compare(const pair *p, gr_pass pass, const char *check)
{
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (is_result(p, pass, i) && p->half.buffers[i].t.type != GR_U8)
            compare_buffer(p, i, check);
}

/* Both kernels on the same numbers. */
static void check(pair *p, gr_pass pass, unsigned mask, const char *name)
{
    reset(p, pass, mask);
    run_one(p, &p->half, pass, name);
    if (table_device_watches(p->device, p->row)) /* the one for floats was watched before */
        return;
    run_one(p, &p->full, pass, name);
    compare(p, pass, name);
}

/* The same bits in other orders of a block's threads, and for any number of a pool's. */
static void check_orders(pair *p, gr_pass pass)
{
    enum { ORDERS = 3 /* and pools */ };
    const int orders = p->device->emulated || p->pools ? ORDERS : 2;
    const int step = table_device_watches(p->device, p->row) ? orders - 1 : 1; /* the first and the last are enough */
    unsigned char *first[TRIAL_SLOTS] = {NULL};
    for (int order = 0; order < orders; order += step) {
        if (p->device->emulated)
            gr__simt_set_order((gr__simt_order)order, p->row->hash);
        reset(p, pass, 0);
        run_in(p, &p->half, pass, "again", order);
        for (int i = 0; i < TRIAL_SLOTS; i++) {
            const gr_tensor *t = &p->half.buffers[i].t;
            if (!is_result(p, pass, i) && !is_changed(p, pass, i))
                continue;
            if (first[i] && memcmp(first[i], t->data, gr__bytes(t)))
                report_failure(p->row, p->device->name, "%s pass again in halves: other bits",
                               pass == GR_FORWARD ? "forward" : "backward");
            if (!first[i] && (first[i] = malloc(gr__bytes(t))))
                memcpy(first[i], t->data, gr__bytes(t));
        }
    }
    for (int i = 0; i < TRIAL_SLOTS; i++)
        free(first[i]);
    if (p->device->emulated)
        gr__simt_set_order(GR__SIMT_FORWARD, 0);
}

/* A NaN in one tensor reaches in halves what it reaches in floats, and changes the rest as it does there. */
static void check_nan(pair *p, gr_pass pass, int buffer)
{
    const gr_type type = p->half.buffers[buffer].t.type;
    const int64_t count = trial_count(&p->half, buffer);
    if (!count || type == GR_U8 || type == GR_I32)
        return;
    const int64_t place = (int64_t)(p->row->hash % (uint64_t)count);
    const double before = trial_get(&p->half, buffer, place);
    reset(p, pass, 0);
    trial_set(&p->half, buffer, place, (double)NAN);
    trial_set(&p->full, buffer, place, (double)NAN);
    run_one(p, &p->half, pass, "NaN");
    run_one(p, &p->full, pass, "NaN");
    compare(p, pass, "NaN");
    trial_set(&p->half, buffer, place, before);
    trial_set(&p->full, buffer, place, before);
}

/* The result just computed again, without the outputs that only a tape needs. */
static void check_without_saved(pair *p)
{
    const gr_tensor *y = &p->half.buffers[trial_out(0)].t;
    gr_tensor *saved = p->half.call.out[1];
    unsigned char *with = malloc(gr__bytes(y));
    memcpy(with, y->data, gr__bytes(y));
    reset(p, GR_FORWARD, 0);
    p->half.call.out[1] = NULL;
    run_one(p, &p->half, GR_FORWARD, "without a tape");
    if (memcmp(with, y->data, gr__bytes(y)))
        report_failure(p->row, p->device->name, "without a tape in halves: other bits");
    p->half.call.out[1] = saved;
    free(with);
}

/* An update that is to be skipped, as a rule for an infinite gradient, leaves all that it changes as it is. */
static void check_skip(pair *p)
{
    reset(p, GR_FORWARD, 0);
    p->half.state.skip = 1;
    run_one(p, &p->half, GR_FORWARD, "skip");
    p->half.state.skip = 0;
    for (int i = 0; i < GR_MAX_IN; i++)
        if (is_changed(p, GR_FORWARD, i) &&
            memcmp(p->half.buffers[i].t.data, p->half.buffers[i].before, gr__bytes(&p->half.buffers[i].t)))
            report_failure(p->row, p->device->name, "skip in halves: %s was changed", truth_name(p->row, i));
}

/* Of NaN small rows say enough, but of nvcc's code, which has a place of its own for each of a thread's results. */
static bool says_of_nan(const row *r)
{
    return r->golden || r->gpu;
}

static void check_forward(pair *p)
{
    check(p, GR_FORWARD, 0, "forward");
    check_orders(p, GR_FORWARD);
    if (p->row->op->kind == GR_DIFF && p->half.call.out[1])
        check_without_saved(p);
    if (p->row->op->kind == GR_UPDATE)
        check_skip(p);
    for (int i = 0; says_of_nan(p->row) && i < GR_MAX_IN; i++)
        check_nan(p, GR_FORWARD, i);
}

/* What is saved is the floats' result, rounded. */
static void save(pair *p)
{
    reset(p, GR_FORWARD, 0);
    run_one(p, &p->full, GR_FORWARD, "forward");
    for (int i = trial_out(0); i < trial_d_in(0); i++) {
        trial_copy(&p->half, &p->full, i);
        trial_copy(&p->full, &p->half, i);
    }
}

static void check_backward(pair *p)
{
    const unsigned all = (1u << GR_MAX_IN) - 1;
    check(p, GR_BACKWARD, all, "backward, adding");
    check(p, GR_BACKWARD, 0, "backward");
    for (int i = 0; i < GR_MAX_IN; i++) {
        gr_tensor *half = p->half.call.d_in[i], *full = p->full.call.d_in[i];
        if (!half)
            continue;
        p->half.call.d_in[i] = p->full.call.d_in[i] = NULL;
        check(p, GR_BACKWARD, i % 2 ? 0x15 : 0x2a, "backward without one gradient");
        p->half.call.d_in[i] = half, p->full.call.d_in[i] = full;
    }
    check_orders(p, GR_BACKWARD);
    for (int i = 0; says_of_nan(p->row) && i < TRIAL_SLOTS; i++)
        if (i < trial_d_in(0) || i == TRIAL_D_OUT)
            check_nan(p, GR_BACKWARD, i);
}

/*
 * Both types for rows that are small enough for goldens and for those that are there for nvcc's code, else one or the
 * other: the kernels have one text. Kernels of halves alone take bf16.
 */
void device_check_halves(const table_device *d, const truth *t, gr_pool *const pools[POOLS])
{
    const row *r = t->run.row;
    const gr_kernel *kernel = &d->kernels[r->op->id];
    for (int type = 0; kernel->halves && type < 2; type++) {
        const bool this_one = r->golden || r->gpu || d->halves || r->hash % 2 == (unsigned)type;
        if (!this_one || !table_device_takes(d, type ? GR_BF16 : GR_F16))
            continue;
        pair p;
        pair_open(&p, d, t, type ? GR_BF16 : GR_F16, pools);
        if (r->halves || kernel->halves(&p.half.call, GR_FORWARD))
            check_forward(&p);
        if (r->op->kind == GR_DIFF && (r->halves || kernel->halves(&p.half.call, GR_BACKWARD))) {
            save(&p);
            check_backward(&p);
        }
        pair_close(&p);
    }
}
