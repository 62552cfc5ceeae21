/*
 * test_nccl.c - ranks on several GPUs tell each other gradients by NCCL, played by fake_nccl.c: the bits are those of
 * one GPU; where it fails or does not answer, all ranks end soon and say so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/group/link.h"
#include "gradus.h"
#include "nn/module.h"

enum { RANKS = 4, MOST = 8192, UPDATES = 3, SHARDS = 4 };

typedef struct {
    gr_group *group;
    bool share; /* one GPU for all */
    gr_code code;
    char error[512];
    size_t bytes;
    char weights[MOST];
} member;

static void *train(void *user)
{
    member *m = user;
    char gpu[16];
    snprintf(gpu, sizeof gpu, "cuda:%d", m->share ? 0 : gr_group_rank(m->group));
    gr_context *ctx = gr_open(&(gr_options){.device = gpu, .seed = 5});
    gr_module *net = gr_sequential(ctx, gr_conv2d_layer(ctx, &(gr_conv2d_options){.filters = 3, .kernel = 3}),
                                   gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx), gr_flatten_layer(ctx),
                                   gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
    gr_fit(net, opt, (gr_split){.train = gr_procedural(ctx, 30, 8, 8, 1)},
           &(gr_fit_options){.batch = 12, .shards = SHARDS, .updates = UPDATES, .group = m->group});
    m->code = gr_error_code(ctx);
    snprintf(m->error, sizeof m->error, "%s", gr_error_text(ctx));
    const gr_slab *slabs[] = {net->parameters->slab, net->parameters->statistics->slab};
    for (int i = 0; i < 2 && m->code == GR_OK; i++) {
        const size_t bytes = gr__bytes(slabs[i]->values);
        assert_true(m->bytes + bytes <= MOST);
        gr_download(slabs[i]->values, m->weights + m->bytes);
        m->bytes += bytes;
    }
    gr_close(ctx);
    gr_group_close(m->group);
    return NULL;
}

static member one[1], many[RANKS];

/* As many ranks, threads; with ends at most so late that one may still wait for patience seconds. */
static void run(void *(*of)(void *), int ranks, bool share, double patience, member members[])
{
    gr_group *groups[RANKS];
    pthread_t threads[RANKS];
    assert_true(gr_group_threads(ranks, patience, groups));
    for (int i = 0; i < ranks; i++) {
        members[i] = (member){.group = groups[i], .share = share};
        pthread_create(&threads[i], NULL, of, &members[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
}

/* A counter of the fake's, since the last call. */
static int counted(const char *name)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    int *counter = library ? dlsym(library, name) : NULL;
    if (!counter)
        fail_msg("the fake NCCL is not the one that is found: %s", dlerror());
    const int count = *counter;
    *counter = 0;
    return count;
}

static void same_bits(int ranks, bool share)
{
    run(train, ranks, share, 0, many);
    for (int i = 0; i < ranks; i++) {
        if (many[i].code)
            fail_msg("rank %d of %d: %s", i, ranks, many[i].error);
        assert_int_equal(many[i].bytes, one[0].bytes);
        assert_memory_equal(many[i].weights, one[0].weights, one[0].bytes);
    }
}

/*
 * Of each update three sums, each of two exchanges a bit and rank; of the two numbers of a score, which are not parted,
 * two of four ranks have none left for the second bit.
 */
static void gpus_do_not_show(void **state)
{
    (void)state;
    run(train, 1, false, 0, one);
    assert_int_equal(one[0].code, GR_OK);
    assert_int_equal(counted("fake_nccl_exchanges"), 0);
    for (int ranks = 2; ranks <= RANKS; ranks *= 2) {
        same_bits(ranks, false);
        const int wanted = ranks == 2 ? 3 * 2 * 1 * 2 : 3 * 2 * 2 * 4 - 2 * 2;
        assert_int_equal(counted("fake_nccl_exchanges"), UPDATES * wanted);
    }
    assert_int_equal(counted("fake_nccl_aborts"), 0);
    assert_int_equal(counted("fake_nccl_open"), 0);
}

/* Without NCCL, or on one GPU, which NCCL cannot share, the host's memory does. */
static void without_it_too(void **state)
{
    (void)state;
    run(train, 1, false, 0, one);
    same_bits(2, true);
    setenv("GRADUS_NCCL", "off", 1);
    same_bits(4, false);
    unsetenv("GRADUS_NCCL");
    setenv("FAKE_NCCL", "old", 1);
    same_bits(2, false);
    unsetenv("FAKE_NCCL");
    assert_int_equal(counted("fake_nccl_exchanges"), 0);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All end with words, before they would by patience and a little. */
static void all_end(void *(*of)(void *), int ranks, double patience, const char *words)
{
    const double begin = now();
    run(of, ranks, false, patience, many);
    assert_true(now() - begin < patience + 8);
    assert_int_equal(counted("fake_nccl_open"), 0);
    for (int i = 0; i < ranks; i++)
        if (many[i].code != GR_DEVICE_FAULT || !strstr(many[i].error, words))
            fail_msg("rank %d ends with %d: %s", i, many[i].code, many[i].error);
}

static void what_goes_wrong_is_told_on_all(void **state)
{
    (void)state;
    setenv("FAKE_NCCL", "open", 1);
    all_end(train, RANKS, 0, "rank 1: NCCL's communicator: unhandled system error");
    setenv("FAKE_NCCL", "error 7", 1);
    all_end(train, RANKS, 0, "rank 1: NCCL's exchange: unhandled system error");
    counted("fake_nccl_aborts");
    setenv("FAKE_NCCL", "never 7", 1);
    all_end(train, RANKS, 1, "ranks 0 and 1 of 4 have waited for each other for 1 s");
    assert_int_equal(counted("fake_nccl_aborts"), RANKS);
    setenv("FAKE_NCCL", "never 3", 1); /* nobody waits on the host */
    all_end(train, 2, 1, "ranks 0 and 1 of 2 have waited for each other for 1 s");
    setenv("FAKE_NCCL", "hang 7", 1);
    all_end(train, RANKS, 1, "rank 1 of 4 has not been heard of for 1 s");
    unsetenv("FAKE_NCCL");
}

/* A sum of so many elements, by a device with another function for whether it is idle; NULL: its own. */
static void *sum(member *m, int64_t count, bool (*idle)(gr_device *d))
{
    char gpu[16];
    snprintf(gpu, sizeof gpu, "cuda:%d", gr_group_rank(m->group));
    gr_context *ctx = gr_open(&(gr_options){.device = gpu});
    gr_tensor *t = gr_tensor_new(ctx, GR_F32, 1, &count);
    ctx->device->idle = idle ? idle : ctx->device->idle;
    if (gr__group_connect(m->group, ctx))
        gr_group_sum(m->group, t);
    m->code = gr_error_code(ctx);
    snprintf(m->error, sizeof m->error, "%s", gr_error_text(ctx));
    gr__group_disconnect(m->group);
    gr_close(ctx);
    gr_group_close(m->group);
    return NULL;
}

/* Rank 2 sums a larger tensor than the others. */
static void *sum_another(void *user)
{
    member *m = user;
    return sum(m, gr_group_rank(m->group) == 2 ? 9 : 8, NULL);
}

static void another_sum_reaches_no_device(void **state)
{
    (void)state;
    counted("fake_nccl_exchanges");
    all_end(sum_another, RANKS, 0, "over devices, of ");
    assert_int_equal(counted("fake_nccl_exchanges"), 0);
}

static bool never_idle(gr_device *d)
{
    (void)d;
    return false;
}

/* Rank 2's device does not come to the end of what was before the sum. */
static void *sum_behind_a_hang(void *user)
{
    member *m = user;
    return sum(m, 8, gr_group_rank(m->group) == 2 ? never_idle : NULL);
}

static bool idle_once(gr_device *d)
{
    static _Thread_local int calls;
    (void)d;
    return calls++ == 0;
}

/* Rank 2's device does not come to the end of the sum's first exchange, which is with rank 3's. */
static void *sum_with_a_hang(void *user)
{
    member *m = user;
    return sum(m, 8, gr_group_rank(m->group) == 2 ? idle_once : NULL);
}

static void a_device_that_hangs_is_named(void **state)
{
    (void)state;
    all_end(sum_behind_a_hang, RANKS, 1, "rank 2 of 4 has not been heard of for 1 s");
    all_end(sum_with_a_hang, RANKS, 1, "ranks 2 and 3 of 4 have waited for each other for 1 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_do_not_show),
        cmocka_unit_test(without_it_too),
        cmocka_unit_test(what_goes_wrong_is_told_on_all),
        cmocka_unit_test(another_sum_reaches_no_device),
        cmocka_unit_test(a_device_that_hangs_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
