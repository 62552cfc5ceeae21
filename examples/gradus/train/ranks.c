/* ranks.c - see ranks.h. */
#include "train/ranks.h"

#include <jansson.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal/complain.h"
#include "train/mpi_carrier.h"

typedef struct {
    resolved s;
    int (*run)(const resolved *s, gr_group *group);
    gr_group *group;
    pthread_t thread;
    int code;
} rank;

/* Whether mpirun has started this process beside others: Open MPI's way to say so, and that of MPICH. */
static bool started_by_mpirun(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_SIZE"), *mpich = getenv("PMI_SIZE");
    return (open_mpi && atoi(open_mpi) > 1) || (mpich && atoi(mpich) > 1);
}

/* Threads that take part: ranks, of which each needs one for every shard where all of these are under way at once. */
static int64_t members(const settings *s)
{
    return settings_synchronised(s) ? s->shards : s->ranks;
}

int ranks_check(const settings *s, const char *command)
{
    const long long shards = s->shards ? s->shards : 1;
    if (s->ranks && started_by_mpirun())
        return complain(GR_USAGE, command, "--ranks is for threads of one process, but mpirun has started several");
    if (s->patience > 0 && members(s) <= 1 && !started_by_mpirun())
        return complain(GR_USAGE, command, "--patience is for several --ranks");
    if (s->ranks & (s->ranks - 1))
        return complain(GR_USAGE, command, "--ranks %lld: it must be a power of two, such as 4", (long long)s->ranks);
    if (s->ranks > shards)
        return complain(GR_USAGE, command, "--ranks %lld share %lld shard%s; give --shards %lld or more",
                        (long long)s->ranks, shards, shards == 1 ? "" : "s", (long long)s->ranks);
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
    r->code = r->run(&r->s, r->group);
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
    const char *first = getenv("GRADUS_GPU");
    if (!s->asked.device.given || strcmp(device_names[s->asked.device.value], "cuda") != 0)
        return own;
    while (gr_gpu(count, &info, NULL))
        count++;
    if (count > 0) /* else opening it says why */
        snprintf(own.asked.gpu, sizeof own.asked.gpu, "cuda:%d", ((first ? atoi(first) : 0) + number) % count);
    return own;
}

/* Starts all but rank 0; returns how many ranks there are then. */
static int start(rank *ranks, int n)
{
    for (int i = 1; i < n; i++)
        if (pthread_create(&ranks[i].thread, NULL, run_thread, &ranks[i]) != 0)
            return i;
    return n;
}

static int run_threads(const resolved *s, int (*run)(const resolved *s, gr_group *group), const char *command)
{
    rank ranks[GR_MAX_RANKS];
    gr_group *groups[GR_MAX_RANKS];
    const int n = (int)members(&s->asked);
    if (!gr_group_threads(n, s->asked.patience, groups))
        return complain(GR_NO_MEMORY, command, "out of host memory for %d ranks", n);
    for (int i = 0; i < n; i++)
        ranks[i] = (rank){.s = with_gpu(s, i), .run = run, .group = groups[i]};
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
        if (code == GR_DEVICE_FAULT && ranks[i].code) /* rank 0 has ended because another has */
            code = ranks[i].code;
    }
    return code == GR_DEVICE_FAULT && started < n ? GR_NO_MEMORY : code;
}

/* Of this process among those of its machine. */
static int number_here(void)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_LOCAL_RANK"), *mpich = getenv("MPI_LOCALRANKID");
    return open_mpi ? atoi(open_mpi) : mpich ? atoi(mpich) : 0;
}

/* This process is one rank; the others speak when they fail, as rank 0 may be gone. */
static int run_process(const resolved *s, int (*run)(const resolved *s, gr_group *group), const char *command)
{
    char why[256];
    gr_code code;
    gr_group *group = mpi_carrier_open(s->asked.patience, &code, why, sizeof why);
    if (!group)
        return complain(code, command, "%s", why);
    resolved own = with_gpu(s, number_here());
    own.asked.ranks = gr_group_size(group);
    const int number = gr_group_rank(group);
    if (number > 0)
        complain_quietly();
    code = run(&own, group);
    if (number > 0 && code && code != GR_STOPPED)
        fprintf(stderr, "gradus %s: rank %d: %s\n", command, number, complaint_kept());
    gr_group_close(group);
    return code;
}

int ranks_run(const resolved *s, int (*run)(const resolved *s, gr_group *group), const char *command)
{
    resolved shared = *s;
    if (started_by_mpirun())
        return run_process(s, run, command);
    if (members(&s->asked) <= 1)
        return run(s, NULL);
    const int64_t threads = s->asked.threads ? s->asked.threads : processors(), share = threads / members(&s->asked);
    shared.asked.threads = share > 0 ? share : 1;
    return run_threads(&shared, run, command);
}
