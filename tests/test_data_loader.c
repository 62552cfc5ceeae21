/* test_data_loader.c - batches: order, the last one under each policy, weights, shapes, addresses, dry runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"

enum { MAX = 64, PIXEL = 2 * 3 };

/* n images of 1 x 2 pixels; image i is all i, label i % 3. */
static gr_dataset *numbered(gr_context *ctx, int64_t n)
{
    gr_images *images = gr__images_new(ctx, n, (int64_t[]){1, 2, 3}, 3);
    for (int64_t i = 0; i < n; i++) {
        memset(gr__image_at(images, i), (int)i, PIXEL);
        images->labels[i] = (int32_t)(i % 3);
    }
    return gr__dataset_own(ctx, images);
}

/* What one batch held. */
typedef struct {
    int64_t n, samples;
    int number[MAX]; /* which image each row is */
    double weight[MAX];
} seen;

/* Element i of a real tensor's values. */
static double value_of(const gr_tensor *t, const void *values, int64_t i)
{
    return gr_type_of(t) == GR_F64 ? ((const double *)values)[i] : ((const float *)values)[i];
}

/* Reads the batch back from the device and checks what holds for all of them. */
static seen look_at(gr_context *ctx, const gr_batch *batch, gr_last_batch last)
{
    static double x[MAX * PIXEL], weight[MAX];
    int32_t y[MAX];
    seen s = {.n = batch->n, .samples = batch->samples};
    assert_in_range(batch->n, 1, MAX);
    assert_true(gr_ndim(batch->x) == 4 && gr_dim(batch->x, 0) == batch->n && gr_dim(batch->x, 1) == 1 &&
                gr_dim(batch->x, 2) == 2 && gr_dim(batch->x, 3) == 3);
    assert_true(gr_ndim(batch->y) == 1 && gr_dim(batch->y, 0) == batch->n);
    assert_int_equal(gr_type_of(batch->x), gr_real(ctx));
    assert_int_equal(batch->weight != NULL, last == GR_PAD);
    assert_true(gr_download(batch->x, x) && gr_download(batch->y, y));
    if (batch->weight) {
        assert_int_equal(gr_dim(batch->weight, 0), batch->n);
        assert_true(gr_download(batch->weight, weight));
    }
    for (int64_t i = 0; i < batch->n; i++) {
        double first = value_of(batch->x, x, i * PIXEL) * 255;
        s.number[i] = (int)lround(first);
        assert_true(fabs(first - s.number[i]) < 1e-4);
        for (int k = 1; k < PIXEL; k++)
            assert_true(value_of(batch->x, x, i * PIXEL + k) == value_of(batch->x, x, i * PIXEL));
        assert_int_equal(y[i], s.number[i] % 3);
        s.weight[i] = batch->weight ? value_of(batch->weight, weight, i) : 1;
    }
    assert_true(ctx->state.inv_weight == 1.0 / (double)batch->samples);
    return s;
}

/* All batches of an epoch; returns how many. */
static int epoch(gr_context *ctx, gr_loader *loader, gr_last_batch last, seen batches[MAX])
{
    gr_batch batch;
    int n = 0;
    while (gr_loader_next(loader, &batch)) {
        batches[n++] = look_at(ctx, &batch, last);
        gr_step_end(ctx);
    }
    assert_null(batch.x);
    assert_string_equal(gr_error_text(ctx), "");
    assert_int_equal(n, gr_loader_batches(loader));
    return n;
}

/* Every policy, set size and batch size: each sample once with weight 1, and the last batch as promised. */
static void last_batch(void **state)
{
    (void)state;
    static seen b[MAX];
    for (int device = 0; device < 3; device++)
        for (int64_t n = 1; n <= 13; n += 2)
            for (int64_t size = 1; size <= 15; size++)
                for (gr_last_batch last = GR_KEEP; last <= GR_WRAP; last++) {
                    if (size > n && last != GR_PAD)
                        continue;
                    gr_context *ctx = gr_open(&(gr_options){.device = device ? "cpu" : "ref", .threads = device + 1});
                    gr_loader *loader = gr_loader_open(
                        numbered(ctx, n), &(gr_loader_options){.batch = size, .last = last, .order = GR_IN_ORDER});
                    int batches = epoch(ctx, loader, last, b), next = 0;
                    int64_t rest = n % size;
                    assert_int_equal(batches, last == GR_DROP ? n / size : (n + size - 1) / size);
                    assert_int_equal(gr_loader_batch(loader), size);
                    for (int k = 0; k < batches; k++) {
                        bool full = k < batches - 1 || rest == 0 || last == GR_DROP;
                        int64_t fresh = full ? size : rest;
                        assert_int_equal(b[k].n, last == GR_KEEP ? fresh : size);
                        assert_int_equal(b[k].samples, last == GR_WRAP ? size : fresh);
                        for (int64_t i = 0; i < b[k].n; i++) {
                            int want = i < fresh ? next++ : last == GR_WRAP ? (int)(i - fresh) : 0;
                            assert_int_equal(b[k].number[i], want);
                            assert_true(b[k].weight[i] == (i < fresh || last == GR_WRAP));
                        }
                    }
                    assert_int_equal(next, last == GR_DROP ? n - rest : n);
                    gr_close(ctx);
                }
}

/* The orders of three epochs of 20 samples in batches of 6. */
static void three_epochs(uint64_t seed, int threads, gr_order kind, int order[3][20])
{
    static seen b[MAX];
    gr_context *ctx = gr_open(&(gr_options){.seed = seed, .threads = threads});
    gr_loader *loader = gr_loader_open(numbered(ctx, 20), &(gr_loader_options){.batch = 6, .order = kind});
    assert_int_equal(gr_loader_epoch(loader), 0);
    for (int e = 0; e < 3; e++) {
        int at = 0, times[20] = {0};
        int batches = epoch(ctx, loader, GR_KEEP, b);
        assert_int_equal(gr_loader_epoch(loader), e + 1);
        for (int k = 0; k < batches; k++)
            for (int64_t i = 0; i < b[k].n; i++)
                times[order[e][at++] = b[k].number[i]]++;
        for (int i = 0; i < 20; i++)
            assert_int_equal(times[i], 1);
    }
    gr_close(ctx);
}

static void shuffling(void **state)
{
    (void)state;
    int first[3][20], again[3][20], other[3][20], plain[3][20];
    three_epochs(1, 1, GR_SHUFFLED, first);
    for (int threads = 1; threads <= 5; threads++) {
        three_epochs(1, threads, GR_SHUFFLED, again);
        assert_memory_equal(again, first, sizeof first);
    }
    three_epochs(2, 2, GR_SHUFFLED, other);
    three_epochs(1, 2, GR_IN_ORDER, plain);
    for (int e = 0; e < 3; e++) {
        assert_memory_not_equal(first[e], other[e], sizeof first[e]);
        assert_memory_not_equal(first[e], first[(e + 1) % 3], sizeof first[e]);
        for (int i = 0; i < 20; i++)
            assert_int_equal(plain[e][i], i);
    }
}

/* Batches of another size go through the same order: a sweep compares batch sizes and nothing else. */
static void order_does_not_depend_on_batch(void **state)
{
    (void)state;
    static seen b[MAX];
    int order[2][20];
    for (int k = 0; k < 2; k++) {
        int at = 0;
        gr_context *ctx = gr_open(&(gr_options){.seed = 9});
        gr_loader *loader = gr_loader_open(numbered(ctx, 20), &(gr_loader_options){.batch = k ? 7 : 2});
        int batches = epoch(ctx, loader, GR_KEEP, b);
        for (int j = 0; j < batches; j++)
            for (int64_t i = 0; i < b[j].n; i++)
                order[k][at++] = b[j].number[i];
        gr_close(ctx);
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
}

/* A loader that leaves batches out gives what another would give behind them, and the next epoch whole. */
static void goes_on_within_an_epoch(void **state)
{
    (void)state;
    static seen whole[2][MAX], b[MAX];
    for (int workers = GR_NO_WORKERS; workers <= 2; workers += 3)
        for (gr_last_batch last = GR_KEEP; last <= GR_WRAP; last++) {
            gr_context *ctx = gr_open(&(gr_options){.threads = 2, .seed = 5});
            gr_dataset *set = numbered(ctx, 13);
            const gr_loader_options from_start = {.batch = 4, .last = last, .epoch = 1, .workers = workers};
            gr_loader *loader = gr_loader_open(set, &from_start);
            const int batches = epoch(ctx, loader, last, whole[0]);
            epoch(ctx, loader, last, whole[1]);
            for (int skip = 0; skip <= batches; skip++) {
                gr_loader_options later = from_start;
                later.skip = skip;
                loader = gr_loader_open(set, &later);
                gr_batch batch;
                int n = skip;
                for (; gr_loader_next(loader, &batch); n++) {
                    b[n] = look_at(ctx, &batch, last);
                    gr_step_end(ctx);
                }
                assert_int_equal(n, batches);
                assert_memory_equal(b + skip, whole[0] + skip, (size_t)(batches - skip) * sizeof *b);
                assert_int_equal(gr_loader_epoch(loader), 2);
                epoch(ctx, loader, last, b);
                assert_memory_equal(b, whole[1], (size_t)batches * sizeof *b);
                gr_loader_close(loader);
            }
            assert_int_equal(gr_close(ctx), 0);
        }
}

static void normalises(void **state)
{
    (void)state;
    gr_batch batch;
    float x[PIXEL];
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = numbered(ctx, 52);
    gr_dataset_normalise(set, &(gr_normalise_args){.mean = {0.1f, 0.2f, 0}, .std = {0.5f, 0, 2}});
    gr_dataset *part = gr__dataset_subset(set, (int64_t[]){51}, 1);
    gr_loader *loader = gr_loader_open(part, &(gr_loader_options){.batch = 1, .order = GR_IN_ORDER});
    assert_true(gr_loader_next(loader, &batch));
    assert_true(gr_download(batch.x, x));
    static const float want[3] = {0.2f, 0, 0.1f}; /* 51 / 255 = 0.2 */
    for (int i = 0; i < PIXEL; i++)
        assert_true(fabsf(x[i] - want[i % 3]) < 1e-6f);
    gr_close(ctx);
}

/* Labels, weights and the arena's batch lie where they lay before; nothing grows from epoch to epoch. */
static void addresses_repeat(void **state)
{
    (void)state;
    gr_batch batch;
    void *x = NULL, *y = NULL, *weight = NULL;
    gr_context *ctx = gr_open(NULL);
    gr_loader *loader =
        gr_loader_open(numbered(ctx, 10), &(gr_loader_options){.batch = 4, .last = GR_PAD, .order = GR_IN_ORDER});
    int64_t held = gr_memory_use(ctx).persistent;
    for (int e = 0; e < 3; e++)
        while (gr_loader_next(loader, &batch)) {
            assert_true(!y || (batch.x->data == x && batch.y->data == y && batch.weight->data == weight));
            x = batch.x->data, y = batch.y->data, weight = batch.weight->data;
            gr_step_end(ctx);
        }
    assert_int_equal(gr_memory_use(ctx).persistent, held);
    gr_close(ctx);
}

static void closing_gives_memory_back(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = numbered(ctx, 10);
    int64_t before = gr_memory_use(ctx).persistent;
    gr_loader *kept = gr_loader_open(set, &(gr_loader_options){.batch = 3, .order = GR_IN_ORDER});
    int64_t with_one = gr_memory_use(ctx).persistent;
    for (int i = 0; i < 5; i++) {
        gr_batch batch;
        gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 4, .last = GR_PAD, .order = GR_IN_ORDER});
        assert_true(gr_loader_next(loader, &batch));
        gr_step_end(ctx);
        gr_loader_close(loader);
        assert_int_equal(gr_memory_use(ctx).persistent, with_one);
    }
    gr_batch batch;
    assert_true(gr_loader_next(kept, &batch));
    gr_step_end(ctx);
    gr_loader_close(kept);
    gr_loader_close(NULL);
    assert_int_equal(gr_memory_use(ctx).persistent, before);
    gr_close(ctx);
}

static void dry(void **state)
{
    (void)state;
    gr_batch batch;
    gr_context *ctx = gr_open(NULL);
    gr_loader *loader =
        gr_loader_open(numbered(ctx, 10), &(gr_loader_options){.batch = 4, .last = GR_PAD, .order = GR_IN_ORDER});
    int64_t held = gr_memory_use(ctx).persistent;
    static const int64_t rows[] = {4, 2, 1000000};
    for (int i = 0; i < 3; i++) {
        gr_plan_begin(ctx);
        assert_true(gr_loader_dry(loader, rows[i], &batch));
        assert_true(batch.n == rows[i] && gr_dim(batch.x, 0) == rows[i] && gr_dim(batch.y, 0) == rows[i] &&
                    gr_dim(batch.weight, 0) == rows[i] && gr_dim(batch.x, 2) == 2);
        assert_int_equal(gr_plan_end(ctx), (rows[i] * PIXEL * 4 + 255) / 256 * 256);
        assert_true(ctx->state.inv_weight == 0); /* no update has come */
    }
    assert_int_equal(gr_memory_use(ctx).persistent, held);
    seen b[MAX];
    assert_int_equal(epoch(ctx, loader, GR_PAD, b), 3); /* and the real thing works as ever */
    assert_true(gr_loader_dry(loader, 4, &batch));
    assert_false(gr_loader_dry(loader, 5, &batch)); /* there is no storage for it outside a plan */
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    gr_plan_begin(ctx);
    assert_false(gr_loader_dry(loader, INT64_MAX / 8, &batch));
    assert_int_equal(gr_error_code(ctx), GR_USAGE);
    gr_clear_error(ctx);
    assert_false(gr_loader_dry(loader, 0, &batch));
    gr_close(ctx);
}

static void errors(void **state)
{
    (void)state;
    static const struct {
        gr_loader_options options;
        gr_code code;
        const char *text;
    } bad[] = {{{.batch = 0}, GR_USAGE, "at least 1"},
               {{.batch = -3}, GR_USAGE, "-3"},
               {{.batch = 11}, GR_USAGE, "batch size 11 is larger than the set of 10 samples"},
               {{.batch = 11, .last = GR_WRAP}, GR_USAGE, "larger than the set"},
               {{.batch = 2, .last = (gr_last_batch)4}, GR_USAGE, "policy number 4"},
               {{.batch = 2, .order = (gr_order)2}, GR_USAGE, "order number 2"},
               {{.batch = INT64_MAX / 4, .last = GR_PAD},
                GR_NO_MEMORY,
                "for the labels of a batch: 9223372036854775808 bytes"}};
    gr_batch batch;
    gr_context *ctx = gr_open(NULL);
    gr_dataset *set = numbered(ctx, 10);
    int64_t held = gr_memory_use(ctx).persistent;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(gr_loader_open(set, &bad[i].options));
        assert_int_equal(gr_error_code(ctx), bad[i].code);
        if (!strstr(gr_error_text(ctx), bad[i].text))
            fail_msg("the error is: %s", gr_error_text(ctx));
        gr_clear_error(ctx);
        assert_int_equal(gr_memory_use(ctx).persistent, held);
    }
    gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 4, .order = GR_IN_ORDER});
    assert_null(gr_loader_open(set, NULL));
    assert_false(gr_loader_next(loader, &batch)); /* an error stands */
    gr_clear_error(ctx);
    assert_true(gr_loader_next(loader, &batch));
    gr_close(ctx);
    assert_null(gr_loader_open(NULL, NULL));
    assert_false(gr_loader_next(NULL, &batch));
    assert_false(gr_loader_dry(NULL, 1, &batch));
    assert_int_equal(gr_loader_batches(NULL), 0);
    assert_int_equal(gr_loader_batch(NULL), 0);
    assert_int_equal(gr_loader_epoch(NULL), 0);
}

/* The memory limit counts the batch buffers; a loader that does not fit leaves nothing behind. */
static void memory_limit(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.memory_limit = 4096});
    gr_dataset *set = numbered(ctx, 10);
    int64_t held = gr_memory_use(ctx).persistent;
    assert_null(gr_loader_open(set, &(gr_loader_options){.batch = 5000, .last = GR_PAD}));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    gr_clear_error(ctx);
    assert_int_equal(gr_memory_use(ctx).persistent, held);
    assert_non_null(gr_loader_open(set, &(gr_loader_options){.batch = 5, .order = GR_IN_ORDER}));
    gr_close(ctx);
}

/* Images of 1 x 2 pixels, left and right told apart, in batches of 2 x 4: every pixel twice in both directions. */
static void resizes(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    gr_images *images = gr__images_new(ctx, 3, (int64_t[]){1, 2, 3}, 3);
    for (int i = 0; i < 3 * PIXEL; i++)
        images->pixels[i] = (uint8_t)(10 * i);
    gr_dataset *set = gr__dataset_own(ctx, images);
    char before[17], after[17];
    gr_dataset_hash(set, before);
    assert_true(gr_dataset_resize(set, 2, 4));
    gr_dataset_hash(set, after);
    assert_string_equal(before, after); /* the same pictures */
    gr_dataset *part = gr__dataset_subset(set, (int64_t[]){2, 0}, 2);
    gr_loader *loader = gr_loader_open(part, &(gr_loader_options){.batch = 2, .order = GR_IN_ORDER});
    gr_batch batch;
    float x[2 * 2 * 4 * 3];
    assert_true(gr_loader_next(loader, &batch) && gr_download(batch.x, x));
    assert_int_equal(gr_count(batch.x), 2 * 2 * 4 * 3);
    for (int n = 0; n < 2; n++)
        for (int h = 0; h < 2; h++)
            for (int w = 0; w < 4; w++)
                for (int c = 0; c < 3; c++) {
                    const int source = 10 * ((n ? 0 : 2) * PIXEL + w / 2 * 3 + c);
                    assert_true(x[((n * 2 + h) * 4 + w) * 3 + c] == (float)source / 255);
                }
    assert_false(gr_dataset_resize(set, 0, 4));
    assert_non_null(strstr(gr_error_text(ctx), "0 x 4"));
    gr_close(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_batch),
        cmocka_unit_test(shuffling),
        cmocka_unit_test(goes_on_within_an_epoch),
        cmocka_unit_test(normalises),
        cmocka_unit_test(resizes),
        cmocka_unit_test(order_does_not_depend_on_batch),
        cmocka_unit_test(addresses_repeat),
        cmocka_unit_test(closing_gives_memory_back),
        cmocka_unit_test(dry),
        cmocka_unit_test(errors),
        cmocka_unit_test(memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
