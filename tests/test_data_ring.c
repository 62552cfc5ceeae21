/*
 * test_data_ring.c - batches that workers make ahead: the same bytes for any number of them, any depth of the ring and
 * wherever the pictures lie; files that go away; a loader that is closed at any moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "data/dataset.h"
#include "data/loading/ring.h"
#include "gradus.h"
#include "test_data_files.h"

/* --- the ring alone ----------------------------------------------------------------------------------------------- */

enum { SLOTS = 3, PIECES = 5, BATCHES = 2000 };

typedef struct {
    int64_t prepared;     /* batches so far */
    int64_t batch[SLOTS]; /* which one a slot holds */
    int64_t filled[SLOTS][PIECES];
} ring_log;

static void log_prepare(void *user, int slot)
{
    ring_log *l = user;
    l->batch[slot] = l->prepared++;
}

static void log_fill(void *user, int slot, int64_t piece)
{
    ring_log *l = user;
    l->filled[slot][piece] = l->batch[slot] * PIECES + piece;
}

static void batches_come_in_order_and_whole(void **state)
{
    (void)state;
    static const int workers[] = {1, 2, 7};
    for (int w = 0; w < 3; w++)
        for (int slots = 2; slots <= SLOTS; slots++) {
            ring_log l = {0};
            gr_ring *ring = gr__ring_open(&(gr_ring_job){.workers = workers[w],
                                                         .slots = slots,
                                                         .pieces = PIECES,
                                                         .user = &l,
                                                         .prepare = log_prepare,
                                                         .fill = log_fill});
            assert_non_null(ring);
            for (int64_t t = 0; t < BATCHES; t++) {
                int slot = gr__ring_next(ring);
                assert_int_equal(l.batch[slot], t);
                for (int p = 0; p < PIECES; p++)
                    assert_int_equal(l.filled[slot][p], t * PIECES + p);
            }
            gr__ring_close(ring);
            assert_in_range(l.prepared, BATCHES, BATCHES + slots); /* never further ahead than there are slots */
        }
}

/* --- loaders ------------------------------------------------------------------------------------------------------ */

enum { IMAGES = 60, SIDE = 9, EPOCHS = 2, PICTURE = SIDE * SIDE * 3, MAX_BATCH = 500 };

static char folder[TEST_PATH];

/* Two classes of pictures: PNGs that all differ, and a JPEG. */
static void write_folder(void)
{
    make_folder(folder);
    for (int i = 0; i < IMAGES; i++) {
        char name[64];
        const unsigned char left[3] = {(unsigned char)(4 * i), 7, (unsigned char)i},
                            right[3] = {1, (unsigned char)(i * i), 200};
        static test_file png;
        snprintf(name, sizeof name, "%s/%d.%s", i % 2 ? "Dog" : "Cat", i, i % 5 ? "png" : "jpg");
        png_two(&png, left, right);
        if (i % 5)
            put_file(folder, name, png.bytes, png.size);
        else
            put_file(folder, name, tiny_jpeg, sizeof tiny_jpeg);
    }
}

typedef struct {
    const char *device;
    bool late, on_device;
    int workers, prefetch;
} way;

/* Everything that two epochs of batches hold, one after the other: pictures, labels, weights. Returns the bytes. */
static size_t all_bytes(const way *w, int64_t batch, int64_t micro, gr_last_batch last, const char *plan,
                        uint8_t **bytes)
{
    gr_context *ctx = gr_open(&(gr_options){.device = w->device, .seed = 5});
    gr_dataset *set =
        gr_image_folder(ctx, folder, &(gr_image_options){.height = SIDE, .width = SIDE, .decode_late = w->late});
    gr_loader *loader = gr_loader_open(gr_augmented(set, plan), &(gr_loader_options){.batch = batch,
                                                                                     .micro_batch = micro,
                                                                                     .last = last,
                                                                                     .workers = w->workers,
                                                                                     .prefetch = w->prefetch,
                                                                                     .on_device = w->on_device});
    assert_string_equal(gr_error_text(ctx), "");
    size_t n = 0, room = (size_t)EPOCHS * (IMAGES + MAX_BATCH) * (PICTURE + 2) * 4;
    *bytes = calloc(1, room);
    gr_batch b;
    int pieces = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++)
        while (gr_loader_next(loader, &b)) {
            if (++pieces == 2 && micro)
                gr_loader_again(loader); /* the first batch once more */
            gr_tensor *parts[] = {b.x, b.y, b.weight};
            for (int i = 0; i < 3; i++) {
                size_t size = parts[i] ? (size_t)gr_count(parts[i]) * 4 : 0;
                assert_true(n + size <= room && (!size || gr_download(parts[i], *bytes + n)));
                n += size;
            }
            gr_step_end(ctx);
        }
    assert_int_equal(gr_close(ctx), 0);
    return n;
}

/*
 * The simplest way on another device: the same pictures, which it normalises with its own rounding, so that one unit in
 * the last place may differ. Labels and weights, whole numbers, may not.
 */
static void compare_devices(const uint8_t *a, const uint8_t *b, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 4) {
        float x, y;
        memcpy(&x, a + i, 4);
        memcpy(&y, b + i, 4);
        if (memcmp(a + i, b + i, 4) && !(fabsf(x - y) <= 1.2e-7f * fabsf(x)))
            fail_msg("byte %zu: %g on one device, %g on the other", i, (double)x, (double)y);
    }
}

/* Against the simplest way, what every other gives. */
static void same_bytes_every_way(void **state)
{
    (void)state;
    static const way first[] = {{"cpu", false, false, GR_NO_WORKERS, 0}, {"simt", false, false, GR_NO_WORKERS, 0}};
    static const way others[] = {{"cpu", false, false, 1, 1},
                                 {"cpu", false, false, 2, 2},
                                 {"cpu", false, false, 7, 5},
                                 {"cpu", true, false, GR_NO_WORKERS, 0},
                                 {"cpu", true, false, 2, 1},
                                 {"cpu", true, false, 7, 3},
                                 {"cpu", false, true, GR_NO_WORKERS, 0},
                                 {"cpu", true, true, 7, 3},
                                 {"simt", false, false, 2, 2},
                                 {"simt", true, false, 7, 1},
                                 {"simt", false, true, 2, 2}};
    static const struct {
        int64_t batch, micro;
        gr_last_batch last;
        const char *plan;
    } cases[] = {{1, 0, GR_KEEP, "none"},  {32, 0, GR_KEEP, "none"}, {32, 0, GR_PAD, "flip,translate=2"},
                 {32, 10, GR_PAD, "flip"}, {32, 7, GR_KEEP, "none"}, {32, 0, GR_WRAP, "double,flip"},
                 {32, 0, GR_DROP, "none"}, {500, 0, GR_PAD, "none"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint8_t *want[2], *got;
        size_t n = all_bytes(&first[0], cases[c].batch, cases[c].micro, cases[c].last, cases[c].plan, &want[0]);
        assert_true(n >= (size_t)EPOCHS * 32 * PICTURE * 4);
        assert_int_equal(all_bytes(&first[1], cases[c].batch, cases[c].micro, cases[c].last, cases[c].plan, &want[1]),
                         n);
        compare_devices(want[0], want[1], n);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
            assert_int_equal(all_bytes(&others[i], cases[c].batch, cases[c].micro, cases[c].last, cases[c].plan, &got),
                             n);
            if (memcmp(got, want[!strcmp(others[i].device, "simt")], n))
                fail_msg("batch %d, way %d: other bytes", (int)cases[c].batch, (int)i);
            free(got);
        }
        free(want[0]);
        free(want[1]);
    }
}

/* A resized set on the device is resized there as batches are. */
static void resized_on_the_device(void **state)
{
    (void)state;
    static float want[4 * 25 * 3], got[4 * 25 * 3];
    for (int i = 0; i < 2; i++) {
        gr_context *ctx = gr_open(NULL);
        gr_dataset *set = gr_procedural(ctx, 8, 12, 12, 1);
        gr_dataset_resize(set, 5, 5);
        gr_loader *loader = gr_loader_open(set, &(gr_loader_options){.batch = 4, .on_device = i, .order = GR_IN_ORDER});
        gr_batch b;
        assert_true(gr_loader_next(loader, &b) && gr_download(b.x, i ? got : want));
        assert_int_equal(gr_close(ctx), 0);
    }
    assert_memory_equal(want, got, sizeof want);
}

/* A file that goes away between opening and decoding: named, with the reason, and no hang, with and without workers. */
static void a_file_that_went_away_is_named(void **state)
{
    (void)state;
    for (int workers = GR_NO_WORKERS; workers <= 7; workers += 4) {
        char path[TEST_PATH + 32];
        gr_context *ctx = gr_open(NULL);
        gr_dataset *set =
            gr_image_folder(ctx, folder, &(gr_image_options){.height = SIDE, .width = SIDE, .decode_late = true});
        snprintf(path, sizeof path, "%s/Cat/6.png", folder); /* number 3 of its class */
        char away[sizeof path];
        snprintf(away, sizeof away, "%s/away", folder);
        assert_int_equal(rename(path, away), 0);
        gr_loader *loader = gr_loader_open(
            set, &(gr_loader_options){.batch = 2, .workers = workers, .prefetch = 1, .order = GR_IN_ORDER});
        gr_batch b;
        assert_true(gr_loader_next(loader, &b));
        gr_step_end(ctx);
        assert_false(gr_loader_next(loader, &b));
        assert_null(b.x);
        assert_int_equal(rename(away, path), 0);
        assert_int_equal(gr_error_code(ctx), GR_BAD_DATA);
        assert_non_null(strstr(gr_error_text(ctx), "Cat/6.png cannot be decoded in epoch 1"));
        assert_non_null(strstr(gr_error_text(ctx), "No such file"));
        assert_false(gr_loader_next(loader, &b)); /* the error stands */
        gr_clear_error(ctx);
        assert_true(gr_loader_next(loader, &b)); /* and the loader goes on behind it */
        gr_close(ctx);
    }
}

/* Closed after so many batches, by itself or with its context; idle long enough to have filled the ring, or not. */
static void closes_at_any_moment(void **state)
{
    (void)state;
    for (int batches = 0; batches < 40; batches++) {
        gr_context *ctx = gr_open(NULL);
        gr_dataset *set = gr_image_folder(
            ctx, folder, &(gr_image_options){.height = SIDE, .width = SIDE, .decode_late = batches % 2});
        int64_t held = gr_memory_use(ctx).persistent;
        gr_loader *loader = gr_loader_open(
            set, &(gr_loader_options){.batch = 7, .workers = 1 + batches % 5, .prefetch = 1 + batches % 3});
        gr_batch b;
        for (int i = 0; i < batches; i++) {
            gr_loader_next(loader, &b); /* now and then the end of an epoch */
            gr_step_end(ctx);
        }
        if (batches % 3 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
        if (batches % 4) {
            gr_loader_close(loader);
            assert_int_equal(gr_memory_use(ctx).persistent, held);
        }
        assert_int_equal(gr_close(ctx), 0);
    }
}

static void preloading_has_a_cap(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(NULL);
    const gr_image_options o = {.height = SIDE, .width = SIDE, .memory = IMAGES * PICTURE - 1};
    assert_null(gr_image_folder(ctx, folder, &o));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_non_null(strstr(gr_error_text(ctx), "60 images of 9 x 9 need 0.00 GiB when they are preloaded"));
    assert_non_null(strstr(gr_error_text(ctx), "preload none"));
    gr_clear_error(ctx);
    gr_image_options more = o, late = o;
    more.memory++;
    late.decode_late = true;
    assert_non_null(gr_image_folder(ctx, folder, &more));
    gr_dataset *set = gr_image_folder(ctx, folder, &late);
    assert_non_null(set);
    char hash[17] = "x";
    gr_dataset_hash(set, hash);
    assert_string_equal(hash, "");
    assert_null(gr_dataset_image(set, 0));
    assert_false(gr_pack(set, "/nowhere"));
    assert_non_null(strstr(gr_error_text(ctx), "decoded late"));
    gr_close(ctx);
    ctx = gr_open(&(gr_options){.device = "simt", .memory_limit = 1 << 14});
    assert_null(gr_loader_open(gr_procedural(ctx, 100, SIDE, SIDE, 1),
                               &(gr_loader_options){.batch = 1, .on_device = true, .order = GR_IN_ORDER}));
    assert_int_equal(gr_error_code(ctx), GR_NO_MEMORY);
    assert_non_null(strstr(gr_error_text(ctx), "the data set on the device"));
    gr_close(ctx);
}

static void odd_options_are_refused(void **state)
{
    (void)state;
    static const gr_loader_options bad[] = {{.batch = 1, .workers = -2},
                                            {.batch = 1, .workers = 257},
                                            {.batch = 1, .prefetch = -1},
                                            {.batch = 1, .prefetch = 1025}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_context *ctx = gr_open(NULL);
        assert_null(gr_loader_open(gr_procedural(ctx, 8, 2, 2, 1), &bad[i]));
        assert_int_equal(gr_error_code(ctx), GR_USAGE);
        gr_close(ctx);
    }
}

enum { SLOW = 2000000 /* nanoseconds */ };

static atomic_int slowly_read; /* pictures so far */

/* A file on slow storage, and one that takes its time to decode. */
static gr_decoded slow_read(const gr_image_source *s, int64_t row, uint8_t *pixels, char reason[GR__REASON_SIZE],
                            int64_t *reading)
{
    (void)s, (void)reason;
    const int64_t begin = gr__nanoseconds();
    nanosleep(&(struct timespec){.tv_nsec = SLOW}, NULL);
    *reading += row % 2 ? gr__nanoseconds() - begin : 0;
    memset(pixels, (int)row, PICTURE);
    slowly_read++;
    return GR__DECODED;
}

static void slow_close(gr_image_source *s)
{
    free(s);
}

static gr_dataset *slow_set(gr_context *ctx)
{
    gr_images *images = gr__images_listed(ctx, IMAGES, (int64_t[]){SIDE, SIDE, 3}, 1);
    images->source = calloc(1, sizeof *images->source);
    *images->source = (gr_image_source){.read = slow_read, .close = slow_close};
    memset(images->labels, 0, IMAGES * sizeof *images->labels);
    return gr__dataset_own(ctx, images);
}

/* Time goes where it is spent: a loader that nobody waits for, and one that everybody does. */
static void waiting_is_measured(void **state)
{
    (void)state;
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    gr_dataset *set = slow_set(ctx);
    gr_loader *now =
        gr_loader_open(set, &(gr_loader_options){.batch = IMAGES, .workers = GR_NO_WORKERS, .order = GR_IN_ORDER});
    gr_batch b;
    assert_true(gr_loader_seconds(now).wait == 0);
    assert_true(gr_loader_next(now, &b));
    assert_true(gr_loader_seconds(now).wait >= IMAGES * 1e-9 * SLOW && gr_loader_seconds(now).copy > 0);
    slowly_read = 0;
    gr_loader *ahead = gr_loader_open(set, &(gr_loader_options){.batch = IMAGES, .workers = 1, .order = GR_IN_ORDER});
    while (slowly_read <= IMAGES) /* as long as the worker is at the first batch */
        nanosleep(&(struct timespec){.tv_nsec = SLOW}, NULL);
    assert_true(gr_loader_next(ahead, &b));
    assert_true(gr_loader_seconds(ahead).wait < 0.5 * IMAGES * 1e-9 * SLOW);
    assert_int_equal(gr_close(ctx), 0);
}

/* One epoch of pictures that take 2 ms each, and 10 ms of other work for each of its 12 batches: who waits how long. */
static gr_time_use slow_epoch(int workers)
{
    gr_context *ctx = gr_open(&(gr_options){.threads = 1});
    gr_loader *loader =
        gr_loader_open(slow_set(ctx), &(gr_loader_options){.batch = 5, .workers = workers, .order = GR_IN_ORDER});
    gr_batch b;
    while (gr_loader_next(loader, &b)) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        gr_step_end(ctx);
    }
    const gr_loader_time t = gr_loader_seconds(loader);
    assert_int_equal(gr_close(ctx), 0);
    return (gr_time_use){.wait = t.wait, .making = t.making, .reading = t.reading};
}

static void slow_pictures_show(void **state)
{
    (void)state;
    const double each = 1e-9 * SLOW;
    gr_time_use now = slow_epoch(GR_NO_WORKERS), ahead = slow_epoch(8);
    assert_true(now.wait >= IMAGES * each && now.making >= IMAGES * each && now.making <= now.wait);
    assert_true(now.reading >= IMAGES / 2 * each && now.reading < 0.8 * now.making);
    assert_true(ahead.making >= IMAGES * each);
    assert_true(ahead.wait < 0.5 * now.wait); /* sleepers need no processor: eight are far ahead */
}

static int setup(void **state)
{
    (void)state;
    write_folder();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_come_in_order_and_whole),
        cmocka_unit_test(same_bytes_every_way),
        cmocka_unit_test(resized_on_the_device),
        cmocka_unit_test(a_file_that_went_away_is_named),
        cmocka_unit_test(closes_at_any_moment),
        cmocka_unit_test(preloading_has_a_cap),
        cmocka_unit_test(odd_options_are_refused),
        cmocka_unit_test(waiting_is_measured),
        cmocka_unit_test(slow_pictures_show),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
