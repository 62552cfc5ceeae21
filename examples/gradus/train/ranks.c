/* ranks.c - see ranks.h. */
#include "train/ranks.h"

#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "terminal/system.h"
#include "train/mpi_carrier.h"

typedef struct {
    resolved s;
    rank_run *run;
    void *user;
    gr_group *group;
    pthread_t thread;
    int code;
} rank;

/* What mpirun says in the environment, Open MPI's or MPICH's in its own word; none: it has started nothing. */
static int told(const char *open_mpi, const char *mpich, int none)
{
    const char *text = getenv(open_mpi) ? getenv(open_mpi) : getenv(mpich);
    return text ? atoi(text) : none;
}

/* That mpirun has started, this one among them; 1: on its own. */
static int processes(void)
{
    const int n = told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1);
    return n > 1 ? n : 1;
}

/* Of all processes: as many as --ranks, or as shards where all of these are under way at once; else each has one. */
static int64_t all_ranks(const settings *s)
{
    const int64_t asked = settings_synchronised(s) ? s->shards : s->ranks;
    return asked ? asked : processes();
}

int ranks_check(const settings *s, const char *command)
{
    const long long shards = s->shards ? s->shards : 1, all = all_ranks(s);
    if (s->runs && processes() > 1) /* whose start is made once */
        return complain(GR_USAGE, command, "--runs is for one process; mpirun has started %d", processes());
    if (s->patience > 0 && all <= 1)
        return complain(GR_USAGE, command, "--patience is for several --ranks");
    if (s->ranks & (s->ranks - 1))
        return complain(GR_USAGE, command, "--ranks %lld: it must be a power of two, such as 4", (long long)s->ranks);
    if (s->ranks > shards)
        return complain(GR_USAGE, command, "--ranks %lld share %lld shard%s; give --shards %lld or more",
                        (long long)s->ranks, shards, shards == 1 ? "" : "s", (long long)s->ranks);
    if (all % processes())
        return complain(GR_USAGE, command,
                        "mpirun has started %d processes, and --%s %lld makes %lld ranks, which they cannot share out "
                        "alike: start a power of two of them, at most %lld",
                        processes(), s->ranks && !settings_synchronised(s) ? "ranks" : "shards", all, all, all);
    return 0;
}

/* Processors that this process may use. */
static int processors(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* A rank that has ended leaves the group at once: who waits for it is told. */
static void run_one(rank *r)
{
    r->code = r->run(&r->s, r->group, r->user);
    gr_group_close(r->group);
}

static void *run_thread(void *user)
{
    complain_quietly();
    run_one(user);
    return NULL;
}

/* A GPU for each rank of this machine, from $GRADUS_GPU on, as long as there are some; then they share. */
static resolved with_gpu(const resolved *s, int number)
{
    gr_gpu_info info;
    int count = 0;
    resolved own = *s;
    const int first = gpu_asked();
    if (!s->asked.device.given || strcmp(device_names[s->asked.device.value], "cuda") != 0)
        return own;
    while (gr_gpu(count, &info, NULL))
        count++;
    if (count > 0 && first >= 0) /* else opening it says why */
        snprintf(own.asked.gpu, sizeof own.asked.gpu, "cuda:%d", (first + number) % count);
    return own;
}

/* Starts all of this process but the first; returns how many there are then. */
static int start(rank *ranks, int n)
{
    for (int i = 1; i < n; i++)
        if (pthread_create(&ranks[i].thread, NULL, run_thread, &ranks[i]) != 0)
            return i;
    return n;
}

/* Runs the ranks of this process, the first of them in this thread, each with a GPU from number on. */
static int run_members(const resolved *s, rank_run *run, void *user, gr_group *groups[], int n, int number)
{
    rank ranks[GR_MAX_RANKS];
    for (int i = 0; i < n; i++)
        ranks[i] = (rank){.s = with_gpu(s, number + i), .run = run, .user = user, .group = groups[i]};
    json_object_seed(0); /* which threads must not do at once */
    const int started = start(ranks, n);
    for (int i = started; i < n; i++) {
        gr_group_fail(groups[i], "the system gives no memory or no thread for it");
        gr_group_close(groups[i]);
    }
    run_one(&ranks[0]);
    int code = ranks[0].code;
    for (int i = 1; i < started; i++) {
        pthread_join(ranks[i].thread, NULL);
        if (code == GR_DEVICE_FAULT && ranks[i].code) /* the first has ended because another has */
            code = ranks[i].code;
    }
    return code == GR_DEVICE_FAULT && started < n ? GR_NO_MEMORY : code;
}

static int run_threads(const resolved *s, rank_run *run, void *user, int n, const char *command)
{
    gr_group *groups[GR_MAX_RANKS];
    if (!gr_group_threads(n, s->asked.patience, groups))
        return complain(GR_NO_MEMORY, command, "out of host memory for %d ranks", n);
    return run_members(s, run, user, groups, n, 0);
}

/* This process is one of several; each speaks when it fails, as the one with rank 0 may be gone. */
static int run_process(const resolved *s, rank_run *run, void *user, int n, const char *command)
{
    gr_group *groups[GR_MAX_RANKS];
    char why[256];
    gr_code opened;
    if (!mpi_carrier_open(n, s->asked.patience, groups, &opened, why, sizeof why))
        return complain(opened, command, "%s", why);
    const int first = gr_group_rank(groups[0]);
    resolved own = *s;
    own.asked.ranks = gr_group_size(groups[0]);
    if (first > 0)
        complain_quietly();
    const int number = told("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", 0); /* among those of its machine */
    const int code = run_members(&own, run, user, groups, n, n * number);
    if (first > 0 && code && code != GR_STOPPED)
        fprintf(stderr, "gradus %s: rank %d: %s\n", command, first, complaint_kept());
    mpi_carrier_close();
    return code;
}

int ranks_run(const resolved *s, rank_run *run, void *user, const char *command)
{
    resolved shared = *s;
    const int n = (int)(all_ranks(&s->asked) / processes()); /* of this process */
    if (n > 1) {
        const int64_t threads = s->asked.threads ? s->asked.threads : processors(), share = threads / n;
        shared.asked.threads = share > 0 ? share : 1;
    }
    if (processes() > 1)
        return run_process(&shared, run, user, n, command);
    return n > 1 ? run_threads(&shared, run, user, n, command) : run(s, NULL, user);
}
