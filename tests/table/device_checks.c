/* device_checks.c - one kernel table against the truth of one row. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/simt/simt.h"
#include "tests/table/device.h"
#include "tests/table/report.h"
#include "tests/table/tile_bound.h"

/* One device at one row. */
typedef struct {
    const table_device *device;
    truth *truth;
    const row *row;
    const gr_kernel *kernel;
    gr_pool *const *pools;
    exactness exact;
} subject;

/*
 * What products of pieces leave out of |a b|, for a and b from 1 to 2, as both may be scaled by powers of two. A piece
 * is nearest to what is left: the second one is at most 2^-8, behind it 2^-17 are left, all of which is the third one.
 *
 *   two     a b - (a0 b0 + a0 b1 + a1 b0) = a1 b1 + a eb + ea b - ea eb, with ea, eb for what is left: at most
 *           2^-16 + 2 2^-17 of |a b| where a and b are 1, and less elsewhere; 2^-34 more
 *   three   a1 b2 + a2 b1 + a2 b2: at most 2 2^-8 2^-17 + 2^-34
 *
 * All are taken as if they had one sign. What sums lose is within the bound of floats: a tile adds 16 products to two
 * sums, and those to the sum so far, so that of K products of first pieces the sum so far is rounded K / 32 times and
 * parts of it K times; the others are 2^-7 of them and are added before. The bound for floats is eps sqrt(K) or more of
 * the magnitude, 2^-24 is half of eps: so three pieces are within one and a half times the bound of floats.
 */
static double left_out(int pieces)
{
    return pieces == 2 ? 0x1.0001p-15 : pieces == 3 ? 0x1.01p-24 : 0;
}

static subject subject_of(const table_device *d, truth *o, gr_pool *const pools[POOLS])
{
    const row *r = o->run.row;
    const exactness exact = {.eps = d->real == GR_F64 ? DBL_EPSILON : (double)FLT_EPSILON,
                             .factors = d->tf32 ? 0x1p-11 : 0,
                             .left_out = left_out(d->pieces),
                             .cut = d->tf32,
                             .times = 1};
    return (subject){d, o, r, &d->kernels[r->op->id], pools, exact};
}

static void open_trial(const subject *s, trial *t)
{
    trial_open(t, s->row, &s->truth->run.shapes, s->device->real);
    t->device = s->device->memory ? s->device->memory() : NULL;
    t->emulated = s->device->emulated;
    t->tf32 = s->device->tf32;
    t->pieces = s->device->pieces;
}

/* Whether a buffer holds a result of the pass. */
static bool is_result(const trial *t, gr_pass pass, int buffer)
{
    if (buffer < GR_MAX_IN)
        return pass == GR_FORWARD && t->row->op->in[buffer].flags & GR_SLOT_CHANGED;
    if (buffer < trial_d_in(0))
        return pass == GR_FORWARD && t->call.out[buffer - trial_out(0)];
    return pass == GR_BACKWARD && buffer < TRIAL_D_OUT && t->call.d_in[buffer - trial_d_in(0)];
}

/* Puts a trial where it was before a pass: inputs drawn, results garbage, saved outputs those of the truth. */
static void reset(const subject *s, trial *t, gr_pass pass)
{
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        if (!trial_count(t, i))
            continue;
        bool out = i >= trial_out(0) && i < trial_d_in(0);
        if (out && pass == GR_BACKWARD)
            trial_copy(t, &s->truth->run, i);
        else if (out || (i >= trial_d_in(0) && i < TRIAL_D_OUT))
            trial_garbage(t, i);
        else
            trial_draw(t, i);
    }
}

static void run(const subject *s, trial *t, gr_pass pass, int pool, const char *check)
{
    const char *misdeed = trial_run(t, s->kernel, pass, s->device->threads ? s->pools[pool] : NULL);
    if (misdeed)
        report_failure(s->row, s->device->name, "%s: the kernel %s", check, misdeed);
    if (s->device->emulated)
        gr__simt_clear_fault();
}

static double *values_of(const trial *t, int buffer)
{
    double *values = calloc((size_t)trial_count(t, buffer) + 1, sizeof *values);
    for (int64_t i = 0; i < trial_count(t, buffer); i++)
        values[i] = trial_get(t, buffer, i);
    return values;
}

/* Whether a result may be another one: which of two maxima was chosen that the rounding of factors makes equal. */
static bool is_open(const subject *s, const trial *t, int buffer)
{
    return s->device->tf32 && t->buffers[buffer].t.type == GR_U8 && !s->row->ties;
}

/*
 * One result against the truth; what stood there before was added to. Winograd's algorithm is the tuned CPU kernels',
 * and computes no dX of the fused operation; of pieces there is none.
 */
static void compare_values(const subject *s, int buffer, const double *got, const double *before, const char *check)
{
    const bool winograd = s->device->threads && !s->device->pieces && s->row->op->id == GR_OP_conv2d;
    double *magnitude = winograd ? tile_magnitudes(s->truth, buffer) : NULL;
    exactness exact = s->exact;
    exact.magnitude = magnitude;
    truth_compare(s->truth, buffer, got, before, exact, s->device->name, check);
    free(magnitude);
}

/* Every result of a pass against the truth. Slots of mask were added to: the drawn preload stood there before. */
static void compare(const subject *s, trial *t, gr_pass pass, unsigned mask, const char *check)
{
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        if (!is_result(t, pass, i) || !trial_count(t, i) || is_open(s, t, i))
            continue;
        bool added = pass == GR_BACKWARD && mask >> (i - trial_d_in(0)) & 1;
        double *got = values_of(t, i), *before = NULL;
        if (added) {
            trial_draw(t, i);
            before = values_of(t, i);
        }
        compare_values(s, i, got, before, check);
        free(got);
        free(before);
    }
}

/* Results of a pass as they are, bit for bit, one behind the other; for the caller to free. */
static unsigned char *bits_of(const trial *t, gr_pass pass, size_t *size)
{
    unsigned char *bits = NULL;
    *size = 0;
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        if (!trial_count(t, i) || !is_result(t, pass, i))
            continue;
        size_t bytes = gr__bytes(&t->buffers[i].t);
        bits = realloc(bits, *size + bytes);
        memcpy(bits + *size, t->buffers[i].t.data, bytes);
        *size += bytes;
    }
    return bits;
}

/*
 * The same bits again with 1, 2 and 5 threads, or with a block's threads in other orders. t has just run with the
 * first. Who watches each access sees a race in every order: a random one is enough.
 */
static void check_bits(const subject *s, trial *t, gr_pass pass)
{
    static const char *const threads[POOLS] = {"again with 1 thread", "with 2 threads", "with 5 threads"};
    static const char *const orders[] = {"again", "in reverse order",
                                         "in random order"}; /* as gr__simt_order counts them */
    const int ways = s->device->threads ? POOLS : s->device->emulated ? 3 : 1;
    size_t size, size2;
    unsigned char *first = bits_of(t, pass, &size);
    for (int way = table_device_watches(s->device, s->row) ? ways - 1 : 0; way < ways; way++) {
        const char *name = s->device->threads ? threads[way] : orders[way];
        if (s->device->emulated)
            gr__simt_set_order((gr__simt_order)way, s->row->hash);
        reset(s, t, pass);
        run(s, t, pass, way, name);
        unsigned char *other = bits_of(t, pass, &size2);
        if (size != size2 || memcmp(first, other, size))
            report_failure(s->row, s->device->name, "%s pass %s: other bits",
                           pass == GR_FORWARD ? "forward" : "backward", name);
        free(other);
    }
    if (s->device->emulated)
        gr__simt_set_order(GR__SIMT_FORWARD, 0);
    free(first);
}

/* Number of NaN in the truth's results that t lacks, and number in the truth's. */
static int64_t lost_nan(const trial *oracle, const trial *t, gr_pass pass, int64_t *wanted)
{
    int64_t lost = 0;
    *wanted = 0;
    for (int i = 0; i < TRIAL_SLOTS; i++)
        for (int64_t j = 0; is_result(t, pass, i) && j < trial_count(t, i); j++)
            if (isnan(trial_get(oracle, i, j))) {
                ++*wanted;
                lost += !isnan(trial_get(t, i, j));
            }
    return lost;
}

/* A NaN in one input reaches all that it reaches in the oracle, and that is not nothing. */
static void check_nan(const subject *s, trial *t, gr_pass pass, int buffer, bool must_reach)
{
    const gr_type type = t->buffers[buffer].t.type;
    if (!trial_count(t, buffer) || type == GR_U8 || type == GR_I32 || table_device_watches(s->device, s->row))
        return;
    int64_t place, wanted;
    const trial *oracle = truth_with_nan(s->truth, pass, buffer, &place);
    reset(s, t, pass);
    const int masked = truth_masked(s->row, pass, buffer);
    trial_set(t, buffer, place, (double)NAN);
    if (masked >= 0)
        trial_set(t, masked, place, (double)NAN);
    run(s, t, pass, 0, "NaN");
    int64_t lost = lost_nan(oracle, t, pass, &wanted);
    if (lost || ((must_reach || masked >= 0) && !wanted))
        report_failure(
            s->row, s->device->name, "%s: a NaN in %s%s is lost in %lld of %lld results",
            pass == GR_FORWARD ? "forward" : "backward", buffer == TRIAL_D_OUT ? "dY" : truth_name(s->row, buffer),
            buffer >= trial_out(0) && buffer < TRIAL_D_OUT ? " (saved)" : "", (long long)lost, (long long)wanted);
}

/*
 * Whether a NaN in this input alone must show in a result: a logit that is NaN is no class, and ReLU's saved result
 * only masks.
 */
static bool nan_reaches(const row *r, int slot)
{
    if (r->op->id == GR_OP_overflow) /* shows as a skip */
        return false;
    if (r->op->id == GR_OP_batch_norm_commit || r->op->id == GR_OP_sam_return)
        return slot == 1;
    if (r->op->id == GR_OP_sam_climb)
        return slot != 3;
    if (r->op->id == GR_OP_prox_step && r->skip)
        return slot == (row_has(r, "first") ? 0 : 2);
    if (r->op->id == GR_OP_prox_step && row_has(r, "first"))
        return slot != 2;
    const char *name = r->op->in[slot].name;
    if (!strcmp(name, "scaler") || (row_has(r, "finite") && !strcmp(name, "loss"))) /* never NaN; never added */
        return false;
    return r->op->id != GR_OP_accuracy && r->op->id != GR_OP_confusion && strcmp(name, "y");
}

/* The result without the outputs that only a tape needs. */
static void check_without_saved(const subject *s, trial *t)
{
    if (s->row->op->kind != GR_DIFF || !t->call.out[1])
        return;
    double *with = values_of(t, trial_out(0));
    reset(s, t, GR_FORWARD);
    gr_tensor *saved = t->call.out[1];
    t->call.out[1] = NULL;
    run(s, t, GR_FORWARD, 0, "without a tape");
    for (int64_t i = 0; i < trial_count(t, trial_out(0)); i++)
        if (with[i] != trial_get(t, trial_out(0), i)) {
            report_failure(s->row, s->device->name, "without a tape: another result at [%lld]", (long long)i);
            break;
        }
    t->call.out[1] = saved;
    free(with);
}

/*
 * Whether an update that is to be skipped must leave everything as it is: batch_norm what it tracks. Gradients may
 * shrink, SAM returns from its climb, the conservative method to its anchor, look-ahead pulls by the update's number,
 * nobody knows yet whether it is skipped when the loss is added to its sum, and the loss scaler is what decides.
 */
static bool obeys_skip(const gr_op *op)
{
    return (op->kind == GR_UPDATE || op->id == GR_OP_batch_norm) && op->id != GR_OP_clip_norm &&
           op->id != GR_OP_sam_climb && op->id != GR_OP_sam_return && op->id != GR_OP_prox_step &&
           op->id != GR_OP_tally && op->id != GR_OP_lookahead_step && op->id != GR_OP_unscale &&
           op->id != GR_OP_overflow && op->id != GR_OP_loss_scale;
}

static void check_skip(const subject *s, trial *t)
{
    if (!obeys_skip(s->row->op))
        return;
    reset(s, t, GR_FORWARD);
    t->state.skip = 1;
    run(s, t, GR_FORWARD, 0, "skip");
    t->state.skip = 0;
    for (int i = 0; i < GR_MAX_IN; i++)
        if (trial_count(t, i) && memcmp(t->buffers[i].t.data, t->buffers[i].before, gr__bytes(&t->buffers[i].t)))
            report_failure(s->row, s->device->name, "skip: %s was changed", truth_name(s->row, i));
}

void device_check_forward(const table_device *d, truth *o, gr_pool *const pools[POOLS])
{
    const subject s = subject_of(d, o, pools);
    trial t;
    open_trial(&s, &t);
    run(&s, &t, GR_FORWARD, 0, "forward");
    compare(&s, &t, GR_FORWARD, 0, "forward");
    check_bits(&s, &t, GR_FORWARD);
    check_without_saved(&s, &t);
    check_skip(&s, &t);
    for (int i = 0; i < s.row->op->n_in; i++)
        check_nan(&s, &t, GR_FORWARD, i, nan_reaches(s.row, i));
    trial_close(&t);
}

/* A backward pass that adds to the slots of mask, with the gradient of slot absent (-1: none) not wanted. */
static void check_slots(const subject *s, trial *t, unsigned mask, int absent, const char *check)
{
    reset(s, t, GR_BACKWARD);
    gr_tensor *kept = absent >= 0 ? t->call.d_in[absent] : NULL;
    if (absent >= 0)
        t->call.d_in[absent] = NULL;
    for (int i = 0; i < GR_MAX_IN; i++)
        if (t->call.d_in[i] && mask >> i & 1)
            trial_draw(t, trial_d_in(i));
    t->call.accumulate = mask;
    run(s, t, GR_BACKWARD, 0, check);
    compare(s, t, GR_BACKWARD, mask, check);
    t->call.accumulate = 0;
    if (absent >= 0)
        t->call.d_in[absent] = kept;
}

void device_check_backward(const table_device *d, truth *o, gr_pool *const pools[POOLS])
{
    static const char *const absent[GR_MAX_IN] = {"backward without d_in[0]", "backward without d_in[1]",
                                                  "backward without d_in[2]"};
    const subject s = subject_of(d, o, pools);
    trial t;
    open_trial(&s, &t);
    unsigned all = 0;
    for (int i = 0; i < GR_MAX_IN; i++)
        all |= t.call.d_in[i] ? 1u << i : 0;
    check_slots(&s, &t, all, -1, "backward, adding");
    for (int i = 0; i < GR_MAX_IN; i++)
        if (t.call.d_in[i])
            check_slots(&s, &t, i % 2 ? 0x15 : 0x2a, i, absent[i]);
    check_slots(&s, &t, 0, -1, "backward");
    check_bits(&s, &t, GR_BACKWARD);
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (i < trial_d_in(0) || i == TRIAL_D_OUT)
            check_nan(&s, &t, GR_BACKWARD, i, i == TRIAL_D_OUT);
    trial_close(&t);
}
