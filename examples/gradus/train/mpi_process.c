/* mpi_process.c - see mpi_process.h. */
#include "train/mpi_process.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "terminal/system.h"

enum { WORDS = 512 };

const char mpi_mark[MPI_MARK_BYTES] = "gradus rank 1.1";

/* Patiences that processes have to start in. */
static const double TO_START = 3;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void mpi_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void mpi_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

static bool is_near(const mpi_process *p, int process)
{
    return strcmp(p->addresses[process].host, p->addresses[p->number].host) == 0;
}

bool mpi_process_is_gone(const mpi_process *p, int process)
{
    return is_near(p, process) && kill(p->addresses[process].id, 0) != 0 && errno == ESRCH;
}

/* --- MPI's own start ---------------------------------------------------------------------------------------------- */

static char never_started[WORDS];

static void say_never_started(int signal_number)
{
    (void)signal_number;
    const ssize_t written = write(STDERR_FILENO, never_started, strlen(never_started));
    _exit(written >= 0 ? GR_DEVICE_FAULT : GR_IO_ERROR);
}

/*
 * When another process dies this one is to live on, and to name it. Messages within a machine are not to be read out of
 * the sender's memory: the libraries below MPI end the reader where that is gone. UCX then has TCP write large ones
 * into the receiver's, and waits for a receipt that does not come where the receiver is the first to end: MPICH 4.0 did
 * not come back from MPI_Finalize in 2 of 24 runs, and did in all of 120 without. Who has set these knows better.
 */
static void outlive_others(void)
{
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    setenv("UCX_TLS", "^cma", 0);
    setenv("UCX_TCP_PUT_ENABLE", "n", 0);
}

/*
 * MPI_Init, which waits for all processes without end, with one: the process' own, as there is nothing to return to.
 * Returns what MPI lets threads do.
 */
static int start_mpi(double limit)
{
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    const char *number = open_mpi ? open_mpi : mpich ? mpich : "of unknown number";
    int level = MPI_THREAD_SINGLE;
    snprintf(never_started, sizeof never_started,
             "gradus train: process %s: MPI_Init has not come back for %.0f s: other processes have not started\n",
             number, limit);
    const struct sigaction watch = {.sa_handler = say_never_started};
    struct sigaction before;
    sigaction(SIGALRM, &watch, &before);
    alarm((unsigned)ceil(limit));
    outlive_others();
    MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level);
    alarm(0);
    sigaction(SIGALRM, &before, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    return level;
}

/* --- introductions ------------------------------------------------------------------------------------------------ */

/* Whether a process' introduction has come, and is one. False: why says what is wrong, "": it has not come yet. */
static bool is_introduced(const mpi_process *p, int process, MPI_Request *request, char *why, size_t size)
{
    int done = *request == MPI_REQUEST_NULL, bytes = sizeof(mpi_address);
    MPI_Status status;
    if (done)
        return true;
    const int code = MPI_Test(request, &done, &status);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (code == MPI_SUCCESS)
        MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (code == MPI_SUCCESS && bytes == sizeof(mpi_address) &&
        !memcmp(p->addresses[process].mark, mpi_mark, MPI_MARK_BYTES))
        return true;
    snprintf(why, size, "process %d of %d is no rank of gradus train: it has introduced itself by something else",
             process, p->processes);
    return false;
}

/* All tell all where they live. False: why names the process that does not. */
static bool introduce(mpi_process *p, const mpi_address *own, char *why, size_t size)
{
    MPI_Request requests[GR_MAX_RANKS], sent;
    const double begin = now_seconds(), limit = TO_START * p->patience;
    *why = '\0';
    for (int i = 0; i < p->processes; i++) {
        MPI_Irecv(&p->addresses[i], sizeof *own, MPI_BYTE, i, MPI_HELLO, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(own, sizeof *own, MPI_BYTE, i, MPI_HELLO, MPI_COMM_WORLD, &sent);
        MPI_Request_free(&sent);
    }
    for (int i = 0; i < p->processes && !*why;) {
        if (is_introduced(p, i, &requests[i], why, size)) {
            i++;
        } else if (now_seconds() - begin > limit) {
            snprintf(why, size, "process %d of %d is no rank of gradus train: it has not introduced itself for %.0f s",
                     i, p->processes, limit);
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
    }
    return !*why;
}

/* Whether all have as many ranks. False: why. */
static bool are_alike(const mpi_process *p, char *why, size_t size)
{
    for (int i = 0; i < p->processes; i++)
        if (p->addresses[i].ranks != p->each) {
            snprintf(why, size,
                     "process %d of %d has %d ranks, and process %d has %d: give all of them the same --ranks", i,
                     p->processes, p->addresses[i].ranks, p->number, p->each);
            return false;
        }
    return true;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Whether there may be so many ranks. False: why. */
static bool can_be(const mpi_process *p, char *why, size_t size)
{
    *why = '\0';
    if ((p->processes & (p->processes - 1)) || p->processes > GR_MAX_RANKS / p->each)
        snprintf(why, size,
                 "mpirun has started %d processes, of %d rank%s each; the number of ranks is a power of two, at most "
                 "%d",
                 p->processes, p->each, p->each == 1 ? "" : "s", GR_MAX_RANKS);
    else if (p->each > MPI_MOST_EACH)
        snprintf(why, size, "%d ranks in one process are more than the %d that there may be beside others: start more",
                 p->each, MPI_MOST_EACH);
    else if (p->each > 1 && !p->in_turns)
        snprintf(why, size,
                 "this MPI is for one thread of a process, and %d ranks of one are %d: have mpirun start %d processes",
                 p->each, p->each, p->each * p->processes);
    return !*why;
}

static gr_code start(mpi_process *p, int each, double patience, char *why, size_t size)
{
    static mpi_address own; /* still being sent when this returns */
    int length;
    *p = (mpi_process){.each = each, .patience = patience > 0 ? patience : 10};
    const int level = start_mpi(TO_START * p->patience);
    p->in_turns = level >= MPI_THREAD_SERIALIZED;
    MPI_Comm_rank(MPI_COMM_WORLD, &p->number);
    MPI_Comm_size(MPI_COMM_WORLD, &p->processes);
    if (!can_be(p, why, size))
        return GR_USAGE;
    p->addresses = calloc((size_t)p->processes, sizeof *p->addresses);
    snprintf(why, size, "out of host memory for %d processes", p->processes);
    if (!p->addresses)
        return GR_NO_MEMORY;
    own = (mpi_address){.id = getpid(), .ranks = each};
    memcpy(own.mark, mpi_mark, MPI_MARK_BYTES);
    MPI_Get_processor_name(own.host, &length);
    if (!introduce(p, &own, why, size))
        return GR_DEVICE_FAULT;
    for (int i = 0; i < p->processes; i++)
        p->far = p->far || !is_near(p, i);
    return are_alike(p, why, size) ? GR_OK : GR_USAGE;
}

/*
 * MPICH sends SIGUSR1 to those that are left when a process ends. What keeps one from starting keeps all, and each is
 * to say so and end with that code, not as one that was stopped: until all have started the signal has to wait.
 */
gr_code mpi_process_start(mpi_process *p, int each, double patience, char *why, size_t size)
{
    sigset_t held, before;
    sigemptyset(&held);
    sigaddset(&held, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &held, &before);
    const gr_code code = start(p, each, patience, why, size);
    if (code == GR_OK)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}
