/*
 * test_ranks.c - a run by 1, 2, 4 or 8 ranks, threads here, ends with the same bits, also where it is stopped and goes
 * on with another number of them; a rank that fails, hangs or makes another run ends all and is named. With
 * synchronised batch normalisation the shards, each a rank's, make the run of the batch in one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/group/meeting.h"
#include "gradus.h"
#include "nn/module.h"

enum { SIDE = 10, IMAGES = 50, SHARDS = 8, MOST = 8192, RANKS = 8 };

/* --- telling each other things ------------------------------------------------------------------------------------ */

typedef struct {
    gr_group *group;
    bool good;
} talker;

/* The sum of 0.1 rank + i over ranks, by the tree. */
static float tree(int from, int ranks, int64_t i)
{
    if (ranks == 1)
        return 0.1F * (float)from + (float)i;
    return tree(from, ranks / 2, i) + tree(from + ranks / 2, ranks / 2, i);
}

/* Of fewer elements than ranks some add none. */
static bool sums(gr_group *g, const char *device, int64_t count)
{
    float values[37];
    gr_context *ctx = gr_open(&(gr_options){.device = device});
    gr_tensor *t = gr_tensor_new(ctx, GR_F32, 1, &count);
    for (int64_t i = 0; i < count; i++)
        values[i] = tree(gr_group_rank(g), 1, i);
    bool good = gr_upload(t, values) && gr_group_sum(g, t) && gr_download(t, values);
    for (int64_t i = 0; i < count; i++)
        good = good && values[i] == tree(0, gr_group_size(g), i);
    return gr_close(ctx) == 0 && good;
}

static void *talk(void *user)
{
    talker *t = user;
    gr_group *g = t->group;
    const int rank = gr_group_rank(g), ranks = gr_group_size(g);
    int word = rank == 0 ? 4711 : rank, all[RANKS];
    t->good = gr_group_broadcast(g, &word, sizeof word) && word == 4711;
    t->good = t->good && gr_group_gather(g, &rank, sizeof rank, all);
    for (int i = 0; i < ranks; i++)
        t->good = t->good && all[i] == i;
    t->good = t->good && gr_group_any(g, rank == ranks - 1) && !gr_group_any(g, false) && gr_group_barrier(g);
    for (int64_t count = 1; count <= 37; count += 6)
        t->good = t->good && sums(g, "cpu", count) && sums(g, "simt", count);
    gr_group_close(g);
    return NULL;
}

/* Tells so many numbers, and hears zeros of those without samples. What it has told stays as it is. */
static bool tells(gr_meeting *m, gr_context *ctx, int64_t count)
{
    const int rank = gr_group_rank(m->group), ranks = gr_group_size(m->group);
    double *own = gr__meeting_own(m, ctx, count);
    for (int64_t i = 0; i < count; i++)
        own[i] = 100.0 * rank + (double)i + 1;
    const double *all = gr__meet(m, ctx, count);
    bool good = all;
    for (int r = 0; good && r < ranks; r++)
        for (int64_t i = 0; i < count; i++)
            good = good && all[r * count + i] == (r < ranks - m->absent ? 100.0 * r + (double)i + 1 : 0);
    for (int64_t i = 0; i < count; i++)
        good = good && own[i] == 100.0 * rank + (double)i + 1;
    return good;
}

/* Meetings of all, then of some, while the others attend, then of all again. */
static void *meet(void *user)
{
    talker *t = user;
    const int rank = gr_group_rank(t->group), ranks = gr_group_size(t->group);
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_meeting m = {.group = t->group};
    t->good = tells(&m, ctx, 3) && tells(&m, ctx, 5) && gr__meeting_over(&m, ctx);
    m.absent = ranks / 2;
    if (rank < ranks - m.absent)
        t->good = t->good && tells(&m, ctx, 5) && tells(&m, ctx, 2) && tells(&m, ctx, 7) && gr__meeting_over(&m, ctx);
    else
        t->good = t->good && gr__meeting_attend(&m, ctx);
    m.absent = 0;
    t->good = t->good && tells(&m, ctx, 6);
    gr__meeting_close(&m);
    t->good = gr_close(ctx) == 0 && t->good;
    gr_group_close(t->group);
    return NULL;
}

/* What 1, 2, 4, 8 ranks do, each in a thread of its own; it must be good for all. */
static void by_all(void *(*work)(void *))
{
    for (int ranks = 1; ranks <= RANKS; ranks *= 2) {
        gr_group *groups[RANKS];
        talker talkers[RANKS];
        pthread_t threads[RANKS];
        assert_true(gr_group_threads(ranks, 0, groups));
        for (int i = 0; i < ranks; i++) {
            talkers[i] = (talker){groups[i], false};
            pthread_create(&threads[i], NULL, work, &talkers[i]);
        }
        for (int i = 0; i < ranks; i++)
            pthread_join(threads[i], NULL);
        for (int i = 0; i < ranks; i++)
            assert_true(talkers[i].good);
    }
}

static void groups_talk(void **state)
{
    (void)state;
    gr_group *none[2 * GR_MAX_RANKS];
    by_all(talk);
    assert_false(gr_group_threads(3, 0, none) || gr_group_threads(2 * GR_MAX_RANKS, 0, none));
}

static void a_carrier_is_of_a_rank_that_can_be(void **state)
{
    (void)state;
    const struct {
        int rank, ranks;
    } wrong[] = {{0, 0}, {0, 3}, {0, 2 * GR_MAX_RANKS}, {-1, 2}, {2, 2}, {GR_MAX_RANKS, GR_MAX_RANKS}};
    const gr_carrier carrier = {.close = free};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(gr_group_open(wrong[i].rank, wrong[i].ranks, &carrier, NULL));
    gr_group *last = gr_group_open(GR_MAX_RANKS - 1, GR_MAX_RANKS, &carrier, NULL);
    assert_int_equal(gr_group_rank(last), GR_MAX_RANKS - 1);
    gr_group_close(last);
}

static void shards_meet(void **state)
{
    (void)state;
    by_all(meet);
}

/* Of four ranks 0 is late, 1 does not come at all and 3 is later still. */
static void *come_late(void *user)
{
    talker *t = user;
    const int late[] = {150, 0, 0, 240};
    int word = 0;
    usleep((useconds_t)(1000 * late[gr_group_rank(t->group)]));
    if (gr_group_rank(t->group) != 1)
        t->good = gr_group_broadcast(t->group, &word, sizeof word);
    return NULL;
}

/* What four ranks do, in groups that the caller closes; it ends well for none. */
static void by_four(void *(*work)(void *), gr_group *groups[4])
{
    talker talkers[4];
    pthread_t threads[4];
    assert_true(gr_group_threads(4, 0.3, groups));
    for (int i = 0; i < 4; i++) {
        talkers[i] = (talker){groups[i], false};
        pthread_create(&threads[i], NULL, work, &talkers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 4; i++)
        assert_false(talkers[i].good);
}

/* 2 waits for 0, which has long come and waits for 1: that is who is named. */
static void the_right_one_is_named(void **state)
{
    (void)state;
    gr_group *groups[4];
    by_four(come_late, groups);
    for (int i = 0; i < 4; i++) {
        gr_group_fail(groups[i], "what comes of it"); /* the first reason stays */
        assert_true(i == 1 || strstr(gr_group_error(groups[i]), "rank 1 of 4 has not been heard of for 0.3 s"));
        gr_group_close(groups[i]);
    }
    gr_group_fail(NULL, "one rank is no group");
}

/* All but rank 0. */
static void *wait_for_the_first(void *user)
{
    talker *t = user;
    int word = 0;
    t->good = gr_group_rank(t->group) > 0 && gr_group_broadcast(t->group, &word, sizeof word);
    return NULL;
}

static void one_that_never_came_is_named(void **state)
{
    (void)state;
    gr_group *groups[4];
    by_four(wait_for_the_first, groups);
    for (int i = 0; i < 4; i++) {
        assert_true(i == 0 || strstr(gr_group_error(groups[i]), "rank 0 of 4 has not been heard of for 0.3 s"));
        gr_group_close(groups[i]);
    }
}

/* Rank 3 is not where the others are, and all wait: 0 for 1, 1 for 3, 3 for 2, 2 for 0. */
static void *go_in_a_circle(void *user)
{
    talker *t = user;
    int word = 0, all[4];
    if (gr_group_rank(t->group) == 3)
        t->good = gr_group_gather(t->group, &word, sizeof word, all);
    else
        t->good = gr_group_broadcast(t->group, &word, sizeof word) && gr_group_broadcast(t->group, &word, sizeof word);
    return NULL;
}

/* None is more to blame than another; that all end is what matters. */
static void a_circle_ends(void **state)
{
    (void)state;
    gr_group *groups[4];
    by_four(go_in_a_circle, groups);
    for (int i = 0; i < 4; i++) {
        assert_non_null(strstr(gr_group_error(groups[i]), "of 4 has not been heard of for 0.3 s"));
        gr_group_close(groups[i]);
    }
}

/* --- a carrier of the test's own: sockets ------------------------------------------------------------------------- */

typedef struct {
    int to[RANKS], ranks;
    pthread_t owner;
    int apart; /* exchanges that another thread has made */
} wires;

static bool wire_exchange(void *user, int peer, const void *send_from, size_t send_bytes, void *receive_to,
                          size_t receive_bytes, char *why, size_t size)
{
    wires *w = user;
    const char *from = send_from;
    char *to = receive_to;
    w->apart += !pthread_equal(pthread_self(), w->owner);
    while (send_bytes || receive_bytes) {
        struct pollfd p = {w->to[peer], (short)((send_bytes ? POLLOUT : 0) | (receive_bytes ? POLLIN : 0)), 0};
        const bool moves = poll(&p, 1, 5000) > 0;
        const ssize_t in = moves && p.revents & POLLIN ? recv(p.fd, to, receive_bytes, MSG_DONTWAIT) : -1;
        const ssize_t out = in < 0 && moves && p.revents & POLLOUT ? send(p.fd, from, send_bytes, MSG_NOSIGNAL) : -1;
        if (in <= 0 && out <= 0) {
            snprintf(why, size, "rank %d is gone", peer);
            return false;
        }
        if (in > 0) {
            to += in;
            receive_bytes -= (size_t)in;
        } else {
            from += out;
            send_bytes -= (size_t)out;
        }
    }
    return true;
}

static void wire_fail(void *user, const char *why)
{
    const wires *w = user;
    (void)why;
    for (int i = 0; i < w->ranks; i++)
        shutdown(w->to[i], SHUT_RDWR);
}

static void wire_close(void *user)
{
    const wires *w = user;
    for (int i = 0; i < w->ranks; i++)
        close(w->to[i]);
}

static wires of_rank[RANKS];

/* Groups over them whose sums are of buckets of so many bytes. */
static bool wired_groups(int ranks, int64_t bucket_bytes, gr_group *groups[])
{
    const gr_carrier carrier = {wire_exchange, wire_fail, wire_close, NULL, 0, bucket_bytes};
    for (int i = 0; i < ranks; i++) {
        of_rank[i].ranks = ranks;
        of_rank[i].apart = 0;
        of_rank[i].to[i] = -1;
        for (int j = 0; j < i; j++) {
            int ends[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
                return false;
            of_rank[i].to[j] = ends[0];
            of_rank[j].to[i] = ends[1];
        }
        groups[i] = gr_group_open(i, ranks, &carrier, &of_rank[i]);
    }
    return true;
}

/* --- a run -------------------------------------------------------------------------------------------------------- */

/* What a run is made of, for all of its ranks. */
typedef struct {
    gr_precision precision;
    gr_last_batch last;
    int64_t micro, updates, stop_at; /* stop_at: rank 0 is stopped behind that update; 0: it is not */
    const char *folder;              /* of checkpoints; NULL: none */
    bool augmented, sam, overflow, resume;
    bool overflow_all;               /* in every batch */
    bool synchronised;               /* another network, as many shards as ranks */
    const char *device;              /* NULL: cpu */
    int64_t images;                  /* 0: IMAGES */
    int failing, hanging, differing; /* the rank that does so; 0: none */
    int other_weights;               /* the rank that begins with others; 0: none */
    double patience;
    int64_t bucket_bytes; /* above 0: sums begin within the backward pass */
    bool slow;            /* between its operations that pass lets others go ahead */
} course;

typedef struct {
    const course *c;
    gr_group *group;
    gr_fit_result result;
    gr_code code;
    char error[512];
    _Alignas(double) char weights[MOST]; /* of one type, one behind the other */
    size_t bytes;
    int64_t calls;
} member;

/* Everything that could depend on who computes what: statistics, dropout, a penalty. */
static gr_module *network(gr_context *ctx)
{
    const gr_conv2d_options conv = {.filters = 4, .kernel = 3, .no_bias = true};
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                         gr_max_pool2d_layer(ctx, 2), gr_flatten_layer(ctx), gr_dropout_layer(ctx, 0.2),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 9, .l2 = 0.01}), gr_relu_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
}

/* Batch normalisation by itself, with a ReLU, and with an addition, of a tensor that is used twice. */
static gr_module *normalised(gr_context *ctx)
{
    const gr_conv2d_options conv = {.filters = 4, .kernel = 3, .padding = GR_SAME, .no_bias = true};
    gr_module *body =
        gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                      gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), NULL);
    gr_module *side = gr_sequential(ctx, gr_batch_norm_layer(ctx, NULL), NULL);
    return gr_sequential(ctx, gr_conv2d_layer(ctx, &conv), gr_batch_norm_layer(ctx, NULL), gr_residual(ctx, body, side),
                         gr_global_avg_pool_layer(ctx), gr_dense_layer(ctx, &(gr_dense_options){.units = 9}),
                         gr_batch_norm_layer(ctx, NULL), gr_relu_layer(ctx),
                         gr_dense_layer(ctx, &(gr_dense_options){.units = 2}), NULL);
}

/* In the last batches of epochs, which have 10 samples, the shard of row 6 has infinities where a run wants them. */
static gr_tensor *loss(void *user, gr_tensor *z, const gr_batch *batch)
{
    member *m = user;
    const course *c = m->c;
    const int rank = gr_group_rank(m->group);
    m->calls++;
    if (c->failing && rank == c->failing && m->calls > 2 * SHARDS)
        return NULL;
    if (c->hanging && rank == c->hanging && m->calls > 2 * SHARDS && gr_group_ok(m->group))
        usleep((useconds_t)(4e6 * c->patience));
    gr_tensor *l = gr_loss(z, batch);
    const bool large =
        c->overflow_all ? batch->row >= batch->whole / 2 : c->overflow && batch->whole == 10 && batch->row == 6;
    return large ? gr_scale(l, c->overflow_all ? 1e30 : 1e38) : l;
}

static bool report(void *user, const gr_progress *p)
{
    const member *m = user;
    return m->c->stop_at == 0 || p->update != m->c->stop_at || gr_group_rank(m->group) > 0;
}

/* Weights, then running statistics. */
static void take_weights(gr_module *net, member *m)
{
    const gr_slab *slabs[] = {net->parameters->slab, net->parameters->statistics->slab};
    m->bytes = 0;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < slabs[s]->n; i++) {
            const gr_tensor *t = slabs[s]->segments[i].value;
            assert_true(m->bytes + gr__bytes(t) <= MOST);
            assert_true(gr_download(t, m->weights + m->bytes));
            m->bytes += gr__bytes(t);
        }
}

static void dawdle(void *user, const gr_trace_event *e)
{
    (void)user;
    if (strcmp(e->pass, "backward") == 0)
        usleep(1000);
}

static void begin_elsewhere(gr_module *net)
{
    float values[MOST];
    assert_true(gr_module_build(net, 3, (int64_t[]){SIDE, SIDE, 3}));
    gr_tensor *first = gr_parameter(net, 0);
    assert_true(gr__bytes(first) <= sizeof values && gr_download(first, values));
    values[0] = -values[0];
    assert_true(gr_upload(first, values));
}

static void *train(void *user)
{
    member *m = user;
    const course *c = m->c;
    of_rank[gr_group_rank(m->group)].owner = pthread_self();
    const bool differs = c->differing && gr_group_rank(m->group) == c->differing;
    gr_context *ctx = gr_open(
        &(gr_options){.device = c->device ? c->device : "cpu", .seed = 5, .threads = 1, .precision = c->precision});
    gr_trace(ctx, c->slow ? dawdle : NULL, NULL);
    gr_module *net = c->synchronised ? normalised(ctx) : network(ctx);
    gr_optimizer *opt = gr_sgd(ctx, net, &(gr_sgd_options){.lr = 0.05, .momentum = 0.9});
    gr_set_sam(opt, c->sam ? 0.05 : 0);
    gr_dataset *set = gr_procedural(ctx, c->images ? c->images : IMAGES, SIDE, SIDE, 1);
    if (c->other_weights && gr_group_rank(m->group) == c->other_weights)
        begin_elsewhere(net);
    const gr_setting rate = {"learning rate", differs ? "0.5" : "0.05"};
    gr_fit_options o = {.batch = 20,
                        .shards = c->synchronised ? gr_group_size(m->group) : SHARDS,
                        .synchronised = c->synchronised,
                        .micro_batch = c->micro,
                        .updates = c->updates,
                        .last = c->last,
                        .group = m->group,
                        .agree = &rate,
                        .n_agree = 1,
                        .loss = loss,
                        .report = report,
                        .user = m,
                        .checkpoints = c->folder ? &(gr_checkpoints){.folder = c->folder, .resume = c->resume} : NULL};
    m->result = gr_fit(net, opt, (gr_split){.train = c->augmented ? gr_augmented(set, "flip,translate=2") : set}, &o);
    m->code = gr_error_code(ctx);
    snprintf(m->error, sizeof m->error, "%s", gr_error_text(ctx));
    if (m->code == GR_OK)
        take_weights(net, m);
    gr_close(ctx);
    gr_group_close(m->group);
    return NULL;
}

/* The run by so many ranks; what each has come to lies in members. */
static void run(const course *c, int ranks, member members[RANKS])
{
    gr_group *groups[RANKS];
    pthread_t threads[RANKS];
    assert_true(c->bucket_bytes ? wired_groups(ranks, c->bucket_bytes, groups)
                                : gr_group_threads(ranks, c->patience, groups));
    for (int i = 0; i < ranks; i++) {
        members[i] = (member){.c = c, .group = groups[i]};
        pthread_create(&threads[i], NULL, train, &members[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
}

static member one[RANKS], many[RANKS];

/* All ranks have the weights of the run by one, and know its losses. */
static void same_bits(const course *c, int ranks)
{
    run(c, ranks, many);
    for (int i = 0; i < ranks; i++) {
        if (many[i].code)
            fail_msg("rank %d of %d: %s", i, ranks, many[i].error);
        assert_int_equal(many[i].bytes, one[0].bytes);
        assert_memory_equal(many[i].weights, one[0].weights, one[0].bytes);
        assert_int_equal(many[i].result.samples, one[0].result.samples);
        assert_int_equal(many[i].result.skipped, one[0].result.skipped);
        assert_true(many[i].result.train_loss == one[0].result.train_loss);
        assert_true(many[i].result.train_accuracy == one[0].result.train_accuracy);
    }
}

/*
 * Two epochs: four batches of 20 and two of 10, which leave a shard of one sample, or none where they are padded; of 45
 * images the last 5 leave three of eight shards without samples. Updates follow, so a loss shows weights that are none.
 */
static void ranks_do_not_show(void **state)
{
    (void)state;
    const course courses[] = {
        {.last = GR_KEEP, .updates = 6},
        {.last = GR_KEEP, .updates = 6, .images = 45},
        {.last = GR_DROP, .updates = 6, .augmented = true},
        {.last = GR_PAD, .updates = 6, .micro = 2},
        {.last = GR_WRAP, .updates = 6, .sam = true},
        {.last = GR_PAD, .updates = 6, .augmented = true, .precision = GR_PRECISION_BF16},
        {.last = GR_KEEP, .updates = 6, .overflow = true, .precision = GR_PRECISION_FP16},
    };
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        run(&courses[i], 1, one);
        assert_int_equal(one[0].code, GR_OK);
        assert_true(isfinite(one[0].result.train_loss));
        assert_int_equal(one[0].result.skipped, courses[i].overflow ? 2 : 0);
        for (int ranks = 2; ranks <= RANKS; ranks *= 2)
            same_bits(&courses[i], ranks);
        course early = courses[i];
        for (early.bucket_bytes = 256; early.bucket_bytes <= 1 << 20; early.bucket_bytes <<= 6) {
            same_bits(&early, RANKS / 2); /* with two shards each sums begin behind the second */
            for (int r = 0; r < RANKS / 2; r++)
                assert_true(of_rank[r].apart > 0);
            same_bits(&early, RANKS);
        }
    }
}

/* What is summed is final, in the updates behind the first, too. */
static void early_sums_are_not_too_early(void **state)
{
    (void)state;
    course c = {.last = GR_DROP, .updates = 3};
    run(&c, 1, one);
    c.bucket_bytes = 256;
    c.slow = true;
    for (int ranks = RANKS / 2; ranks <= RANKS; ranks *= 2)
        same_bits(&c, ranks);
}

/* A rank that fails while sums are under way ends all. */
static void early_sums_end(void **state)
{
    (void)state;
    run(&(course){.updates = 15, .micro = 1, .failing = 5, .bucket_bytes = 256}, RANKS, many);
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(many[r].code, r == 5 ? GR_USAGE : GR_DEVICE_FAULT);
}

/* Stopped by rank 0 within an epoch of four ranks, gone on with by two. */
static void goes_on_with_fewer(void **state)
{
    (void)state;
    char folder[] = "/tmp/gradus-ranks-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    run(&(course){.updates = 6}, 1, one);
    run(&(course){.updates = 6, .stop_at = 4, .folder = folder}, 4, many);
    for (int i = 0; i < 4; i++)
        assert_true(many[i].code == GR_OK && many[i].result.stopped && many[i].result.updates == 4);
    same_bits(&(course){.updates = 6, .folder = folder, .resume = true}, 2);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static int64_t most_apart(const member *a, const member *b, bool in_double, double *apart)
{
    const int64_t count = (int64_t)(a->bytes / (in_double ? sizeof(double) : sizeof(float)));
    *apart = 0;
    for (int64_t i = 0; i < count; i++) {
        const double d = in_double ? ((const double *)a->weights)[i] - ((const double *)b->weights)[i]
                                   : (double)(((const float *)a->weights)[i] - ((const float *)b->weights)[i]);
        *apart = fabs(d) <= *apart ? *apart : fabs(d); /* NaN is apart */
    }
    return count;
}

/*
 * Statistics over all shards are the batch's: to rounding the run of the batch in one, weights and running statistics,
 * also where the last batch (5 samples of 45, 2 of 42) leaves shards empty or with one value for each channel. Padding
 * is left out of it: shards of nothing else are no part of the statistics, rows of a batch in one are.
 */
static void synchronised_is_the_batch_in_one(void **state)
{
    (void)state;
    const course courses[] = {
        {.last = GR_KEEP, .images = 45},
        {.last = GR_KEEP, .images = 42, .sam = true},
        {.last = GR_DROP, .images = 45, .augmented = true},
        {.last = GR_WRAP, .images = 45},
        {.last = GR_KEEP, .images = 45, .device = "ref"},
        {.last = GR_KEEP, .images = 42, .device = "ref"},
        {.last = GR_WRAP, .images = 45, .device = "ref", .sam = true},
        {.last = GR_KEEP, .images = 45, .device = "simt"},
    };
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        course c = courses[i];
        const bool in_double = c.device && strcmp(c.device, "ref") == 0;
        double apart;
        c.synchronised = true;
        c.updates = 6;
        run(&c, 1, one);
        assert_int_equal(one[0].code, GR_OK);
        for (int ranks = 2; ranks <= RANKS; ranks *= 2) {
            run(&c, ranks, many);
            for (int r = 0; r < ranks; r++) {
                if (many[r].code)
                    fail_msg("course %zu, rank %d of %d: %s", i, r, ranks, many[r].error);
                assert_memory_equal(many[r].weights, many[0].weights, many[0].bytes);
                assert_true(many[r].result.train_loss == many[0].result.train_loss);
            }
            assert_true(most_apart(&many[0], &one[0], in_double, &apart) > 100);
            if (!(apart < (in_double ? 1e-13 : 5e-6)))
                fail_msg("course %zu, %d ranks: %g apart", i, ranks, apart);
        }
    }
}

enum { ROWS = 6 };

/* Gradients of two normalisations, one behind the other, with the same gamma and beta, of [ROWS,2] over all ranks. */
typedef struct {
    gr_group *group;
    double dx[ROWS * 2], dgamma[2], dbeta[2];
} twice;

static void *normalise_twice(void *user)
{
    twice *t = user;
    const int rows = ROWS / gr_group_size(t->group), first = rows * gr_group_rank(t->group);
    double x[ROWS * 2], dy[ROWS * 2];
    for (int i = 0; i < 2 * ROWS; i++) {
        x[i] = sin(3 * i);
        dy[i] = cos(5 * i);
    }
    gr_meeting meeting = {.group = t->group};
    gr_context *ctx = gr_open(&(gr_options){.device = "ref"});
    gr_tensor *in = gr_variable(ctx, 2, (int64_t[]){rows, 2}), *gamma = gr_variable(ctx, 1, (int64_t[]){2}),
              *beta = gr_variable(ctx, 1, (int64_t[]){2}), *d = gr_tensor_new(ctx, GR_F64, 2, (int64_t[]){rows, 2});
    gr_upload(in, x + 2 * first);
    gr_upload(d, dy + 2 * first);
    gr_upload(gamma, (double[]){1.5, 0.7});
    gr_upload(beta, (double[]){0.2, -0.3});
    ctx->meeting = gr_group_size(t->group) > 1 ? &meeting : NULL;
    const gr_batch_norm_args relu = {.relu = true};
    gr_tensor *y = gr_batch_norm(in, gamma, beta, NULL, NULL, &relu, NULL);
    gr_backward_from(gr_batch_norm(y, gamma, beta, NULL, NULL, NULL, NULL), d);
    gr_download(gr_grad(in), t->dx + 2 * first);
    gr_download(gr_grad(gamma), t->dgamma);
    gr_download(gr_grad(beta), t->dbeta);
    gr__meeting_close(&meeting);
    gr_close(ctx);
    gr_group_close(t->group);
    return NULL;
}

static void normalise_by(int ranks, twice of[RANKS])
{
    gr_group *groups[RANKS];
    pthread_t threads[RANKS];
    assert_true(gr_group_threads(ranks, 0, groups));
    for (int i = 0; i < ranks; i++) {
        of[i] = (twice){.group = groups[i]};
        pthread_create(&threads[i], NULL, normalise_twice, &of[i]);
    }
    for (int i = 0; i < ranks; i++)
        pthread_join(threads[i], NULL);
}

/* A scale that two normalisations share gets the sum of its gradients, and those of all ranks are the batch's. */
static void synchronised_gradients_add_up(void **state)
{
    (void)state;
    static twice whole[RANKS], half[RANKS];
    normalise_by(1, whole);
    normalise_by(2, half);
    for (int i = 0; i < 2 * ROWS; i++)
        assert_true(fabs(half[i / ROWS].dx[i] - whole[0].dx[i]) < 1e-13);
    for (int c = 0; c < 2; c++) {
        assert_true(fabs(half[0].dgamma[c] + half[1].dgamma[c] - whole[0].dgamma[c]) < 1e-13);
        assert_true(fabs(half[0].dbeta[c] + half[1].dbeta[c] - whole[0].dbeta[c]) < 1e-13);
        assert_true(fabs(whole[0].dgamma[c]) > 1e-3);
    }
}

/* What one shard overflows in the others hear of in its numbers: all skip, all have the same weights. */
static void synchronised_skips_together(void **state)
{
    (void)state;
    const course courses[] = {
        {.synchronised = true, .updates = 6, .last = GR_KEEP, .overflow = true, .precision = GR_PRECISION_FP16},
        {.synchronised = true, .updates = 6, .last = GR_PAD, .images = 45, .precision = GR_PRECISION_BF16},
        {.synchronised = true, .updates = 6, .last = GR_PAD, .images = 45},
    };
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        run(&courses[i], RANKS, many);
        for (int r = 0; r < RANKS; r++) {
            if (many[r].code)
                fail_msg("course %zu, rank %d: %s", i, r, many[r].error);
            assert_int_equal(many[r].result.skipped, courses[i].overflow ? 2 : 0);
            assert_true(isfinite(many[r].result.train_loss));
            assert_memory_equal(many[r].weights, many[0].weights, many[0].bytes);
        }
    }
}

/*
 * A loss scale that shards of one rank push down until it is stuck: all ranks end by that, and all know where the
 * infinities come from, which that rank alone sees; with synchronised statistics of single values too, which nobody
 * could look at alone.
 */
static void all_know_where_it_overflows(void **state)
{
    (void)state;
    const course courses[] = {
        {.last = GR_KEEP, .updates = 400, .overflow_all = true, .precision = GR_PRECISION_FP16},
        {.last = GR_KEEP, .updates = 400, .overflow_all = true, .precision = GR_PRECISION_FP16, .synchronised = true},
    };
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        run(&courses[i], 4, many);
        for (int r = 0; r < 4; r++)
            if ((many[r].code != GR_NUMERIC && many[r].code != GR_DEVICE_FAULT) || /* as the first to end ends all */
                !strstr(many[r].error, "the loss scale is stuck") || !strstr(many[r].error, "first appear in the "))
                fail_msg("course %zu, rank %d ends with %d: %s", i, r, many[r].code, many[r].error);
    }
}

/* Every rank but the one that is named ends because of it. */
static void all_end(const course *c, int named, const char *words)
{
    run(c, 4, many);
    for (int i = 0; i < 4; i++) {
        if (i == named && c->failing)
            assert_int_equal(many[i].code, GR_USAGE);
        else if (many[i].code != GR_DEVICE_FAULT || !strstr(many[i].error, words))
            fail_msg("rank %d ends with %d: %s", i, many[i].code, many[i].error);
    }
}

static void who_ends_it_is_named(void **state)
{
    (void)state;
    all_end(&(course){.updates = 9, .micro = 1, .failing = 2}, 2, "rank 2 has ended: the program's own loss function");
    all_end(&(course){.updates = 9, .micro = 1, .hanging = 1, .patience = 0.4}, 1, "rank 1 of 4 has not been heard of");
    all_end(&(course){.updates = 9, .differing = 3}, 3,
            "rank 3 disagrees with rank 0 about the learning rate: 0.5, not 0.05");
    all_end(&(course){.updates = 9, .other_weights = 2}, 2, "rank 2 disagrees with rank 0 about the first weights: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_talk),
        cmocka_unit_test(a_carrier_is_of_a_rank_that_can_be),
        cmocka_unit_test(shards_meet),
        cmocka_unit_test(the_right_one_is_named),
        cmocka_unit_test(one_that_never_came_is_named),
        cmocka_unit_test(a_circle_ends),
        cmocka_unit_test(ranks_do_not_show),
        cmocka_unit_test(early_sums_are_not_too_early),
        cmocka_unit_test(early_sums_end),
        cmocka_unit_test(goes_on_with_fewer),
        cmocka_unit_test(synchronised_is_the_batch_in_one),
        cmocka_unit_test(synchronised_skips_together),
        cmocka_unit_test(synchronised_gradients_add_up),
        cmocka_unit_test(all_know_where_it_overflows),
        cmocka_unit_test(who_ends_it_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
