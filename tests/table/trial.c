/* trial.c - guarded buffers, and a kernel let loose among them. */
#include "tests/table/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/half.h"
#include "kernels/simt/simt.h"
#include "tests/table/draw.h"
#include "tests/table/mirror.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, size) __asan_poison_memory_region(p, size) /* a read of a guard is found too */
#define UNPOISON(p, size) __asan_unpoison_memory_region(p, size)
#else
#define POISON(p, size) ((void)(p), (void)(size))
#define UNPOISON(p, size) ((void)(p), (void)(size))
#endif

enum { GUARD = 256, NOT_A_NUMBER = 0xFF, PATTERN = 0xA5, SCRATCH = TRIAL_SLOTS };

static bool is_real(gr_type type)
{
    return type == GR_F32 || type == GR_F64 || type == GR_F16 || type == GR_BF16;
}

static int filler(gr_type type)
{
    return is_real(type) ? NOT_A_NUMBER : PATTERN;
}

/* Bytes of a block: a guard, the data, at least a guard. */
static size_t whole_size(size_t bytes)
{
    return (GUARD + bytes + 2 * GUARD - 1) / GUARD * GUARD;
}

/*
 * Eight bytes of a guard. In a real buffer they are a signalling NaN: what is computed from a guard shows, and is never
 * the guard again. Every buffer has its own, so a copy from guard to guard shows too.
 */
static void guard_bytes(int buffer, gr_type type, unsigned char pattern[8])
{
    uint32_t low = 0x7FA5A500u | (uint32_t)buffer, high = type == GR_F64 ? 0x7FF4A5A5u : low;
    memcpy(pattern, &low, 4);
    memcpy(pattern + 4, &high, 4);
    if (!is_real(type))
        memset(pattern, 0xC0 + buffer, 8);
}

static void lock(unsigned char *block, size_t bytes)
{
    POISON(block, GUARD);
    POISON(block + GUARD + bytes, whole_size(bytes) - GUARD - bytes);
}

/* The byte after i of the guards around bytes. */
static size_t next_of_guards(size_t i, size_t bytes)
{
    return i + 1 == GUARD ? GUARD + bytes : i + 1;
}

/* A block of garbage between guards, its data 256-byte aligned as a device's memory is. */
static unsigned char *guarded(size_t bytes, int buffer, gr_type type)
{
    unsigned char *block = aligned_alloc(GUARD, whole_size(bytes)), pattern[8];
    if (!block)
        abort();
    guard_bytes(buffer, type, pattern);
    memset(block + GUARD, filler(type), bytes);
    for (size_t i = 0; i < whole_size(bytes); i = next_of_guards(i, bytes))
        block[i] = pattern[i % 8];
    lock(block, bytes);
    return block;
}

static bool intact(unsigned char *block, size_t bytes, int buffer, gr_type type)
{
    unsigned char pattern[8];
    guard_bytes(buffer, type, pattern);
    UNPOISON(block, whole_size(bytes));
    bool good = true;
    for (size_t i = 0; i < whole_size(bytes); i = next_of_guards(i, bytes))
        good &= block[i] == pattern[i % 8];
    lock(block, bytes);
    return good;
}

static void release(unsigned char *block, size_t bytes)
{
    if (block)
        UNPOISON(block, whole_size(bytes));
    free(block);
}

/* like: a tensor of the row's in double; real: the type that takes its place. NULL: there is none. */
static gr_tensor *add_buffer(trial *t, int buffer, const gr_tensor *like, gr_type real)
{
    if (!like)
        return NULL;
    gr_tensor *made = &t->buffers[buffer].t;
    *made = *like;
    made->type = like->type == GR_F64 ? real : like->type;
    t->buffers[buffer].block = guarded(gr__bytes(made), buffer, made->type);
    t->buffers[buffer].before = malloc(gr__bytes(made) + 1);
    made->data = t->buffers[buffer].block + GUARD;
    return made;
}

/* The type of a slot's tensor, or of its gradient's, where halves are to be of type half; GR_F32: there are none. */
static gr_type by_type(const gr_slot *slot, gr_type real, gr_type half, bool gradient)
{
    const bool wanted =
        slot->type == GR_SLOT_EITHER || (slot->type == GR_SLOT_HALF && ((slot->flags & GR_SLOT_SAMPLES) || !gradient));
    return wanted && half != GR_F32 ? half : real;
}

static void open_as(trial *t, const row *r, const row_call *shapes, gr_type real, gr_type half)
{
    *t = (trial){.row = r, .shapes = *shapes, .state = r->state};
    t->call =
        (gr_call){.exec = &t->exec, .options = t->shapes.args, .n_in = shapes->call.n_in, .n_out = shapes->call.n_out};
    for (int i = 0; i < r->op->n_in; i++) {
        const gr_slot *slot = &r->op->in[i];
        const gr_tensor *like = shapes->call.in[i] ? &shapes->in[i] : NULL;
        t->call.in[i] = add_buffer(t, trial_in(i), like, by_type(slot, real, half, false));
        t->call.d_in[i] =
            slot->flags & GR_SLOT_GRAD ? add_buffer(t, trial_d_in(i), like, by_type(slot, real, half, true)) : NULL;
        if (like)
            trial_draw(t, trial_in(i));
    }
    for (int i = 0; i < r->op->n_out; i++)
        t->call.out[i] = add_buffer(t, trial_out(i), shapes->call.out[i] ? &shapes->out[i] : NULL,
                                    by_type(&r->op->out[i], real, half, false));
    if (r->op->kind == GR_DIFF) {
        t->call.d_out[0] = add_buffer(t, TRIAL_D_OUT, &shapes->out[0], by_type(&r->op->out[0], real, half, true));
        trial_draw(t, TRIAL_D_OUT);
    }
}

void trial_open(trial *t, const row *r, const row_call *shapes, gr_type real)
{
    open_as(t, r, shapes, real, GR_F32);
}

void trial_open_halves(trial *t, const row *r, const row_call *shapes, gr_type half)
{
    open_as(t, r, shapes, GR_F32, half);
}

int trial_open_copy(trial *t, int slot, gr_type half)
{
    const int buffer = trial_in(t->row->op->n_in);
    t->call.copy = add_buffer(t, buffer, &t->shapes.in[slot], half);
    return buffer;
}

void trial_close(trial *t)
{
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        release(t->buffers[i].block, gr__bytes(&t->buffers[i].t));
        free(t->buffers[i].before);
    }
    *t = (trial){0};
}

double trial_get(const trial *t, int buffer, int64_t i)
{
    const gr_tensor *from = &t->buffers[buffer].t;
    switch (from->type) {
    case GR_F64:
        return gr__f64(from)[i];
    case GR_F32:
        return (double)gr__f32(from)[i];
    case GR_F16:
        return gr__f16_value(((const uint16_t *)from->data)[i]);
    case GR_BF16:
        return gr__bf16_value(((const uint16_t *)from->data)[i]);
    case GR_I32:
        return gr__i32(from)[i];
    default:
        return gr__u8(from)[i];
    }
}

void trial_set(trial *t, int buffer, int64_t i, double value)
{
    gr_tensor *to = &t->buffers[buffer].t;
    switch (to->type) {
    case GR_F64:
        gr__f64(to)[i] = value;
        break;
    case GR_F32:
        gr__f32(to)[i] = (float)value;
        break;
    case GR_F16:
        ((uint16_t *)to->data)[i] = gr__f16_of(value);
        break;
    case GR_BF16:
        ((uint16_t *)to->data)[i] = gr__bf16_of(value);
        break;
    case GR_I32:
        gr__i32(to)[i] = (int32_t)value;
        break;
    default:
        gr__u8(to)[i] = (uint8_t)value;
    }
}

int64_t trial_count(const trial *t, int buffer)
{
    return t->buffers[buffer].block ? t->buffers[buffer].t.count : 0;
}

void trial_garbage(trial *t, int buffer)
{
    gr_tensor *to = &t->buffers[buffer].t;
    if (to->data)
        memset(to->data, filler(to->type), gr__bytes(to));
}

void trial_draw(trial *t, int buffer)
{
    int64_t count = trial_count(t, buffer);
    double *values = calloc((size_t)count + 1, sizeof *values);
    if (buffer < GR_MAX_IN)
        draw_input(t->row, buffer, count, values);
    else
        draw_stream(t->row, (uint32_t)(buffer == TRIAL_D_OUT ? DRAW_DY : DRAW_PRELOAD + buffer - trial_d_in(0)), count,
                    values);
    for (int64_t i = 0; i < count; i++)
        trial_set(t, buffer, i, values[i]);
    free(values);
}

void trial_copy(trial *to, const trial *from, int buffer)
{
    for (int64_t i = 0; i < trial_count(to, buffer); i++)
        trial_set(to, buffer, i, trial_get(from, buffer, i));
}

/* What a kernel sees beside its tensors, but for memory: all that its scratch, too, may depend on. */
static gr_exec plain_exec(const trial *t)
{
    return (gr_exec){.tf32 = t->tf32,
                     .pieces = t->pieces,
                     .multiprocessors = t->row->multiprocessors,
                     .wgmma = t->row->wgmma && (t->device ? t->device->wgmma : t->emulated)};
}

/* Scratch that a pass needs. It depends on shapes, options and plain_exec: there is nothing else. */
static size_t scratch_size(const trial *t, const gr_kernel *kernel, gr_pass pass)
{
    gr_call blind = t->call;
    gr_tensor copies[TRIAL_SLOTS];
    gr_exec nothing = plain_exec(t);
    blind.exec = &nothing;
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        copies[i] = t->buffers[i].t;
        copies[i].data = NULL;
    }
    for (int i = 0; i < GR_MAX_IN; i++) {
        blind.in[i] = t->call.in[i] ? &copies[trial_in(i)] : NULL;
        blind.d_in[i] = t->call.d_in[i] ? &copies[trial_d_in(i)] : NULL;
    }
    for (int i = 0; i < GR_MAX_OUT; i++)
        blind.out[i] = t->call.out[i] ? &copies[trial_out(i)] : NULL;
    blind.d_out[0] = t->call.d_out[0] ? &copies[TRIAL_D_OUT] : NULL;
    return kernel->scratch ? kernel->scratch(&blind, pass) : 0;
}

/* Whether a pass may write buffer. */
static bool writable(const trial *t, gr_pass pass, int buffer)
{
    if (&t->buffers[buffer].t == t->call.copy)
        return true;
    if (buffer < GR_MAX_IN)
        return t->row->op->in[buffer].flags & GR_SLOT_CHANGED;
    if (buffer < trial_d_in(0))
        return pass == GR_FORWARD && t->call.out[buffer - trial_out(0)];
    return pass == GR_BACKWARD && buffer < TRIAL_D_OUT && t->call.d_in[buffer - trial_d_in(0)];
}

static const char *misdeed(trial *t, gr_pass pass)
{
    static char text[96];
    static const char *const groups[] = {"in", "out", "d_in", "d_out"};
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        const gr_tensor *b = &t->buffers[i].t;
        if (!b->data)
            continue;
        int group = i < trial_out(0) ? 0 : i < trial_d_in(0) ? 1 : i < TRIAL_D_OUT ? 2 : 3;
        int first[] = {0, trial_out(0), trial_d_in(0), TRIAL_D_OUT};
        bool spill = !intact(t->buffers[i].block, gr__bytes(b), i, b->type);
        if (!spill && (writable(t, pass, i) || !memcmp(b->data, t->buffers[i].before, gr__bytes(b))))
            continue;
        snprintf(text, sizeof text, "%s %s[%d]", spill ? "wrote outside" : "changed", groups[group], i - first[group]);
        return text;
    }
    for (int i = 0; i < GR_ARRIVALS; i++)
        if (t->arrivals[i])
            return "left arrivals counted";
    return NULL;
}

/* One pass in the memory of t->device. Returns NULL or what went wrong. */
static const char *run_there(trial *t, gr_kernel_fn pass, unsigned char *scratch, size_t bytes)
{
    mirror m;
    void *home[TRIAL_SLOTS];
    mirror_open(&m, t->device);
    for (int i = 0; i < TRIAL_SLOTS; i++) {
        home[i] = t->buffers[i].t.data;
        if (home[i])
            t->buffers[i].t.data =
                (char *)mirror_block(&m, t->buffers[i].block, whole_size(gr__bytes(&t->buffers[i].t))) + GUARD;
    }
    t->exec.scratch = bytes ? (char *)mirror_block(&m, scratch, whole_size(bytes)) + GUARD : NULL;
    t->exec.state = mirror_state(&m, &t->state);
    t->exec.arrivals = mirror_block(&m, t->arrivals, sizeof t->arrivals);
    t->exec.queue = t->device->queue;
    if (m.good)
        pass(&t->call);
    const char *wrong = mirror_close(&m);
    for (int i = 0; i < TRIAL_SLOTS; i++)
        t->buffers[i].t.data = home[i];
    return wrong;
}

static void register_buffers(const trial *t, const void *scratch, size_t bytes)
{
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (t->buffers[i].t.data)
            gr__simt_register(t->buffers[i].t.data, gr__bytes(&t->buffers[i].t));
    if (bytes)
        gr__simt_register(scratch, bytes);
    gr__simt_register(&t->state, sizeof t->state);
    gr__simt_register(t->arrivals, sizeof t->arrivals);
    gr__simt_set_strict(true);
}

static void forget_buffers(const trial *t, const void *scratch)
{
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (t->buffers[i].t.data)
            gr__simt_forget(t->buffers[i].t.data);
    gr__simt_forget(scratch);
    gr__simt_forget(&t->state);
    gr__simt_forget(t->arrivals);
    gr__simt_set_strict(false);
}

/* One pass on the emulator. Returns NULL or what it has found. */
static const char *run_emulated(trial *t, gr_kernel_fn pass, const void *scratch, size_t bytes)
{
    register_buffers(t, scratch, bytes);
    pass(&t->call);
    forget_buffers(t, scratch);
    return gr__simt_fault();
}

const char *trial_run(trial *t, const gr_kernel *kernel, gr_pass pass, struct gr_pool *pool)
{
    for (int i = 0; i < TRIAL_SLOTS; i++)
        if (t->buffers[i].t.data)
            memcpy(t->buffers[i].before, t->buffers[i].t.data, gr__bytes(&t->buffers[i].t));
    size_t bytes = scratch_size(t, kernel, pass);
    unsigned char *scratch = guarded(bytes, SCRATCH, GR_F32);
    t->exec = plain_exec(t);
    t->exec.pool = pool;
    t->exec.scratch = bytes ? scratch + GUARD : NULL;
    t->exec.state = &t->state;
    memset(t->arrivals, 0, sizeof t->arrivals); /* a kernel that was abandoned left some counted */
    t->exec.arrivals = t->arrivals;
    const gr_kernel_fn run = pass == GR_FORWARD ? kernel->forward : kernel->backward;
    const char *wrong = NULL;
    if (t->device)
        wrong = run_there(t, run, scratch, bytes);
    else if (t->emulated)
        wrong = run_emulated(t, run, scratch + GUARD, bytes);
    else
        run(&t->call);
    bool spill = !intact(scratch, bytes, SCRATCH, GR_F32);
    release(scratch, bytes);
    if (wrong)
        return wrong;
    return spill ? "wrote outside its scratch" : misdeed(t, pass);
}
