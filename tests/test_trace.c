/* test_trace.c - what a context tells whoever looks on: kernels, copies, spans, in their order and with their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/context.h"
#include "core/device.h"
#include "gradus.h"

enum { MOST = 64 };

typedef struct {
    gr_context *ctx;
    int n;
    gr_trace_event events[MOST];
    char shapes[MOST][64];
} watch;

static void on_event(void *user, const gr_trace_event *e)
{
    watch *w = user;
    assert_true(w->n < MOST);
    gr_trace_shapes(w->ctx, w->shapes[w->n], sizeof w->shapes[0]);
    w->events[w->n++] = *e;
}

static const gr_trace_event *find(const watch *w, const char *op, const char *pass)
{
    for (int i = 0; i < w->n; i++)
        if (strcmp(w->events[i].op, op) == 0 && strcmp(w->events[i].pass, pass) == 0)
            return &w->events[i];
    fail_msg("no %s %s", op, pass);
    return NULL;
}

/* y = tanh(x w): one step, watched. */
static void step(watch *w)
{
    const float values[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    gr_tensor *x = gr_tensor_new(w->ctx, GR_F32, 2, (int64_t[]){3, 4}),
              *weights = gr_variable(w->ctx, 2, (int64_t[]){4, 2});
    gr_trace(w->ctx, on_event, w);
    const double begin = gr_span_begin(w->ctx, "mine");
    gr_upload(x, values);
    gr_tensor *y = gr_tanh(gr_dense(x, weights, NULL, NULL));
    gr_tensor *dy = gr_tensor_new(w->ctx, GR_F32, 2, (int64_t[]){3, 2});
    gr_backward_from(y, dy);
    gr_step_end(w->ctx);
    gr_span_end(w->ctx, "mine", begin);
    gr_trace(w->ctx, NULL, NULL);
}

static void what_ends_comes_in_its_order(void **state)
{
    (void)state;
    static const char *const expected[] = {"upload", "dense", "tanh", "tanh", "dense", "backward", "mine"};
    watch w = {.ctx = gr_open(NULL)};
    step(&w);
    assert_int_equal(w.n, 7);
    for (int i = 0; i < w.n; i++) {
        assert_string_equal(w.events[i].op, expected[i]);
        assert_true(w.events[i].begin <= w.events[i].end);
    }
    const gr_trace_event *mine = &w.events[6], *back = &w.events[5];
    assert_true(mine->kind == GR_TRACE_SPAN && mine->begin <= w.events[0].begin && mine->end >= back->end);
    assert_true(back->kind == GR_TRACE_SPAN && back->begin <= w.events[3].begin && back->end >= w.events[4].end);
    assert_true(w.events[0].kind == GR_TRACE_COPY && w.events[1].kind == GR_TRACE_KERNEL);
    assert_int_equal(gr_close(w.ctx), 0);
}

static void bytes_and_shapes(void **state)
{
    (void)state;
    watch w = {.ctx = gr_open(NULL)};
    step(&w);
    const gr_trace_event *e = find(&w, "upload", "");
    assert_true(e->bytes_read == 48 && e->bytes_written == 48 && e->flops == 0);
    e = find(&w, "dense", "forward");
    assert_true(e->bytes_read == 4 * (12 + 8) && e->bytes_written == 4 * 6);
    assert_string_equal(w.shapes[e - w.events], "x[3,4] w[4,2]");
    assert_true(e->memory >= e->bytes_read + e->bytes_written);
    e = find(&w, "dense", "backward"); /* x wants no gradient: dW of x and dY, and w as its entry says */
    assert_true(e->bytes_read == 4 * (6 + 12 + 8) && e->bytes_written == 4 * 8);
    e = find(&w, "tanh", "backward");
    assert_true(e->bytes_read == 4 * (6 + 6) && e->bytes_written == 4 * 6);
    assert_string_equal(w.shapes[w.n - 1], ""); /* a span has none */
    char text[8] = "before";
    assert_string_equal(gr_trace_shapes(w.ctx, text, sizeof text), "");
    assert_int_equal(gr_close(w.ctx), 0);
}

/* What a hook has read of the forward kernels. */
typedef struct {
    gr_context *ctx;
    bool dry;
    int results, copies;
    float last[6];
} reader;

static void on_result(void *user, const gr_trace_event *e)
{
    reader *r = user;
    char text[64];
    gr_tensor *result = gr_trace_result(r->ctx);
    if (e->kind != GR_TRACE_KERNEL) {
        r->copies++;
        assert_null(result);
        assert_string_equal(gr_trace_shapes(r->ctx, text, sizeof text), "");
        return;
    }
    assert_true((result != NULL) == (!r->dry && strcmp(e->pass, "forward") == 0));
    if (!result)
        return;
    assert_true(gr_download(result, r->last));
    assert_true(strcmp(gr_trace_shapes(r->ctx, text, sizeof text), "") != 0); /* the copy has left it alone */
    r->results++;
}

static void a_hook_reads_results(void **state)
{
    (void)state;
    reader r = {.ctx = gr_open(NULL)};
    const float values[6] = {-2, -1, 0, 1, 2, 3};
    gr_tensor *x = gr_variable(r.ctx, 1, (int64_t[]){6}), *dy = gr_tensor_new(r.ctx, GR_F32, 1, (int64_t[]){6});
    gr_upload(x, values);
    gr_trace(r.ctx, on_result, &r);
    gr_backward_from(gr_relu(gr_relu(x)), dy);
    assert_int_equal(r.results, 2);
    assert_true(r.copies >= 2);
    for (int i = 0; i < 6; i++)
        assert_true(r.last[i] == (values[i] > 0 ? values[i] : 0));
    r.dry = true; /* which computes nothing */
    gr_plan_begin(r.ctx);
    gr_relu(x);
    assert_true(gr_plan_end(r.ctx) > 0);
    assert_int_equal(r.results, 2);
    assert_null(gr_trace_result(r.ctx));
    assert_null(gr_trace_result(NULL));
    assert_int_equal(gr_close(r.ctx), 0);
}

/* The most memory is that of what is watched, not of a larger step before. */
static void memory_begins_with_the_trace(void **state)
{
    (void)state;
    watch w = {.ctx = gr_open(NULL)};
    gr_tanh(gr_tensor_new(w.ctx, GR_F32, 1, (int64_t[]){1 << 20}));
    gr_step_end(w.ctx);
    const int64_t persistent = gr_memory_use(w.ctx).persistent;
    step(&w);
    for (int i = 0; i < w.n; i++)
        assert_true(w.events[i].memory < persistent + (1 << 16));
    assert_int_equal(gr_close(w.ctx), 0);
}

/* Two uses of one variable as both inputs: their gradients are added by the engine, which is told too. */
static void sums_of_gradients(void **state)
{
    (void)state;
    watch w = {.ctx = gr_open(NULL)};
    gr_tensor *x = gr_variable(w.ctx, 1, (int64_t[]){5}), *dy = gr_tensor_new(w.ctx, GR_F32, 1, (int64_t[]){5});
    gr_trace(w.ctx, on_event, &w);
    gr_backward_from(gr_add(x, x, NULL), dy);
    const gr_trace_event *e = find(&w, "add_gradient", "backward");
    assert_true(e->flops == 5 && e->bytes_read == 40 && e->bytes_written == 20);
    assert_int_equal(gr_close(w.ctx), 0);
}

/* Ranges as words: "mine(upload() dense forward() ...)". */
static void on_begin(void *user, const char *op, const char *module, const char *pass)
{
    char *text = user;
    assert_string_equal(module, "");
    snprintf(text + strlen(text), 256 - strlen(text), *pass ? "%s %s(" : "%s(", op, pass);
}

static void on_end(void *user)
{
    strcat(user, ")");
}

static void ranges_lie_inside_each_other(void **state)
{
    (void)state;
    watch w = {.ctx = gr_open(NULL)};
    gr_tensor *x = gr_tensor_new(w.ctx, GR_F32, 1, (int64_t[]){5});
    char text[256] = "";
    gr_watch_ranges(NULL, NULL);
    gr_watch_ranges(w.ctx, &(gr_ranges){on_begin, on_end, text});
    step(&w); /* traced, too */
    assert_int_equal(w.n, 7);
    assert_string_equal(text, "mine(upload()dense forward()tanh forward()backward(tanh backward()dense backward()))");
    gr_plan_begin(w.ctx);
    gr_relu(x);
    gr_plan_end(w.ctx);
    assert_null(strstr(text, "relu"));
    *text = '\0';
    gr_relu(x); /* nobody traces any more */
    assert_string_equal(text, "relu forward()");
    gr_watch_ranges(w.ctx, NULL);
    gr_relu(x);
    assert_string_equal(text, "relu forward()");
    assert_int_equal(gr_close(w.ctx), 0);
}

static void nobody_looks_on(void **state)
{
    (void)state;
    watch w = {.ctx = gr_open(NULL)};
    assert_true(gr_span_begin(w.ctx, "nobody") == 0 && gr_span_begin(NULL, "nobody") == 0);
    gr_span_end(w.ctx, "nobody", 0);
    gr_span_end(NULL, "nobody", 1);
    gr_trace(w.ctx, on_event, &w);
    gr_span_end(w.ctx, "begun unseen", 0);
    gr_plan_begin(w.ctx);
    assert_true(gr_span_begin(w.ctx, "dry") == 0);
    gr_plan_end(w.ctx);
    assert_int_equal(w.n, 0);
    assert_int_equal(gr_close(w.ctx), 0);
}

/* What a device that runs behind the host told of its streams. */
typedef struct {
    int n;
    gr_device_time times[MOST];
} times;

static void on_time(void *user, const gr_device_time *t)
{
    times *all = user;
    assert_true(all->n < MOST);
    all->times[all->n++] = *t;
}

enum { LARGE = 64 * 1024 /* floats that are sent in pieces, in a stream of their own */ };

static void tag_by_number(void *user, const gr_trace_event *e)
{
    watch *w = user;
    w->events[w->n++] = *e;
    if (e->kind != GR_TRACE_SPAN && strcmp(e->op, "step state") != 0)
        gr_trace_tag(w->ctx, w->n);
}

/* A context on simt that traces by the device's clock; skips the test where it was built without. */
static gr_context *open_timed(watch *w)
{
    gr_context *ctx = w->ctx = gr_open(&(gr_options){.device = "simt"});
    if (!gr_ok(ctx)) {
        gr_close(ctx);
        skip();
    }
    assert_false(gr_trace_device(ctx, true)); /* nobody traces */
    gr_trace(ctx, tag_by_number, w);
    assert_true(gr_trace_device(ctx, true));
    return ctx;
}

/* All by one clock: sent off, then done, in the order of the stream; a copy on its way, then in its place. */
static void a_device_has_times_of_its_own(void **state)
{
    (void)state;
    static float values[LARGE];
    watch w = {0};
    times all = {0};
    open_timed(&w);
    gr_tensor *x = gr_variable(w.ctx, 1, (int64_t[]){LARGE}), *dy = gr_tensor_new(w.ctx, GR_F32, 1, (int64_t[]){LARGE});
    gr_upload(x, values);
    gr_backward_from(gr_relu(gr_add(x, x, NULL)), dy);
    assert_true(gr_trace_device_times(w.ctx, on_time, &all));
    int last = 0, told = 0;
    for (int i = 0; i < all.n; i++) {
        const gr_device_time *t = &all.times[i];
        assert_true(t->tag >= 0 && t->tag <= w.n && t->end >= t->begin);
        if (t->tag == 0)
            continue;
        told++;
        assert_true(t->begin >= w.events[t->tag - 1].begin);
        if (t->stream == GR_STREAM_COPIES) {
            assert_string_equal(w.events[t->tag - 1].op, "upload");
            assert_true(i + 1 < all.n && all.times[i + 1].tag == t->tag && all.times[i + 1].begin >= t->end);
            continue;
        }
        assert_true(t->tag > last && (last == 0 || t->begin >= all.times[i - 1].end));
        last = (int)t->tag;
    }
    assert_int_equal(told, 2 + 5); /* the upload twice, add, relu, both backward, the sum of two gradients */
    assert_int_equal(all.times[0].stream, GR_STREAM_COPIES);
    const int before = all.n;
    assert_true(gr_trace_device_times(w.ctx, on_time, &all) && all.n == before); /* each once */
    assert_false(gr_trace_device(w.ctx, false) || gr_trace_device_times(w.ctx, on_time, &all));
    assert_int_equal(gr_close(w.ctx), 0);
}

static bool never_reached(void *event)
{
    (void)event;
    return false;
}

static void *no_event(void)
{
    return NULL;
}

static void a_device_that_fails_is_told_from_want_of_memory(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        watch w = {0};
        times all = {0};
        gr_context *ctx = open_timed(&w);
        gr_timed_events events = *ctx->device->stopwatch->events;
        if (fails)
            events.wait = never_reached;
        else
            events.open = no_event;
        ctx->device->stopwatch->events = &events;
        gr_tensor *x = gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){4});
        gr_relu(x);
        assert_false(gr_trace_device_times(ctx, on_time, &all));
        assert_int_equal(gr_error_code(ctx), fails ? GR_DEVICE_FAULT : GR_OK);
        assert_int_equal(all.n, 0);
        gr_close(ctx);
    }
}

static void times_end_with_the_trace(void **state)
{
    (void)state;
    watch w = {0};
    times all = {0};
    gr_context *ctx = open_timed(&w);
    gr_trace(ctx, NULL, NULL);
    assert_false(gr_trace_device_times(ctx, on_time, &all));
    gr_trace(ctx, tag_by_number, &w);
    gr_relu(gr_tensor_new(ctx, GR_F32, 1, (int64_t[]){4}));
    assert_false(gr_trace_device_times(ctx, on_time, &all)); /* and have to be asked for again */
    assert_true(gr_ok(ctx) && all.n == 0);
    assert_int_equal(gr_close(ctx), 0);
}

static void a_host_has_one_clock(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    times all = {0};
    assert_false(gr_trace_device(ctx, true));
    assert_false(gr_trace_device_times(ctx, on_time, &all));
    assert_false(gr_trace_device(NULL, true) || gr_trace_device_times(NULL, on_time, &all));
    gr_trace_tag(ctx, 1);
    gr_trace_tag(NULL, 1);
    assert_true(gr_ok(ctx) && all.n == 0);
    assert_int_equal(gr_close(ctx), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ends_comes_in_its_order),
        cmocka_unit_test(bytes_and_shapes),
        cmocka_unit_test(a_hook_reads_results),
        cmocka_unit_test(memory_begins_with_the_trace),
        cmocka_unit_test(sums_of_gradients),
        cmocka_unit_test(ranges_lie_inside_each_other),
        cmocka_unit_test(nobody_looks_on),
        cmocka_unit_test(a_device_has_times_of_its_own),
        cmocka_unit_test(a_device_that_fails_is_told_from_want_of_memory),
        cmocka_unit_test(times_end_with_the_trace),
        cmocka_unit_test(a_host_has_one_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
