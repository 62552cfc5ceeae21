/* monitor.c - gradus monitor: what any program takes of the machine while it runs. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "monitor/samples.h"
#include "terminal/output.h"
#include "terminal/system.h"

enum { NOT_FOUND = 127, NOT_STARTED = 126, BY_SIGNAL = 128 /* + its number: exit codes as a shell has them */ };

typedef struct {
    double every;
    const char *csv, *json;
    const char *query_gpu; /* NULL: nothing beyond the three */
} monitor_asks;

/* SIGCHLD, and what is passed on. They are waited for, not handled. */
static sigset_t watched_signals(void)
{
    static const int numbers[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    return set;
}

static void become(char **command, const sigset_t *mask)
{
    signal(SIGPIPE, SIG_DFL); /* what this program ignores is no business of another one */
    signal(SIGXFSZ, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    const int why = errno;
    complain(GR_BAD_DATA, "monitor", "%s: %s", command[0], strerror(why));
    _exit(why == ENOENT ? NOT_FOUND : NOT_STARTED);
}

/* Takes leave of processes that ended. True: the command is one of them, and *status is how. */
static bool reap(pid_t command, int *status)
{
    bool ended = false;
    int how;
    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;)
        if (pid == command) {
            ended = true;
            *status = how;
        }
    return ended;
}

/* Waits until a time on the clock, or a signal, which it passes on. */
static void wait_until(double time, const sigset_t *set, pid_t command)
{
    const double left = time - now_seconds();
    const struct timespec most = {(time_t)(left > 0 ? left : 0),
                                  left > 0 ? (long)(1e9 * (left - (double)(time_t)left)) : 0};
    siginfo_t info;
    const int number = sigtimedwait(set, &info, &most);
    if (number > 0 && number != SIGCHLD && info.si_code != SI_KERNEL) /* a terminal has told the command itself */
        kill(command, number);
}

/* Runs the command to its end. Returns its exit code. */
static int watch(char **command, double every, samples *s, FILE *csv, gpu_query *query)
{
    const sigset_t set = watched_signals();
    sigset_t before;
    int status = 0;
    sigprocmask(SIG_BLOCK, &set, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* what the command leaves behind stays below this process */
    samples_begin(s, csv, query);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(command, &before);
    if (child < 0)
        return complain(GR_IO_ERROR, "monitor", "no process for the command: %s", strerror(errno));
    for (double next = s->begin + every; !reap(child, &status);) {
        wait_until(next, &set, child);
        if (now_seconds() < next)
            continue;
        samples_take(s);
        next += every * (1 + (int)((now_seconds() - next) / every));
    }
    samples_end(s);
    return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Samples that are missing from the results, and why. */
static int tell_of_lost(const samples *s)
{
    char what[64];
    if (s->lost == 0)
        return 0;
    snprintf(what, sizeof what, "could not be read for %d of %d samples", s->lost, s->lost + s->n);
    errno = s->why;
    return complain_of_file("/proc", what, "monitor");
}

/* Writes one file of the results. */
static int write_json(const char *path, const samples *s, int code)
{
    output out;
    const int opened = output_open(&out, path, "monitor");
    if (opened)
        return opened;
    samples_print_json(s, code, out.file);
    return output_commit(&out, "monitor");
}

static int monitor(const monitor_asks *asks, gpu_query *query, char **command)
{
    samples s;
    FILE *csv = NULL;
    int told = output_check_apart((const char *const[]){asks->json, asks->csv}, 2, "monitor");
    if (told == 0 && asks->json)
        told = output_check(asks->json, "monitor");
    if (told == 0 && asks->csv && !(csv = fopen(asks->csv, "we")))
        told = complain_of_file(asks->csv, "cannot be written", "monitor");
    if (told)
        return told;
    const int code = watch(command, asks->every > 0 ? asks->every : 1, &s, csv, query);
    samples_print(&s, stderr);
    told = tell_of_lost(&s);
    const bool lost = csv && ferror(csv);
    if (csv && (fclose(csv) != 0 || lost))
        told = complain(GR_IO_ERROR, "monitor", "--csv %s cannot be written: %s", asks->csv,
                        lost ? "lines were lost" : strerror(errno));
    const int written = asks->json ? write_json(asks->json, &s, code) : 0;
    return code ? code : told ? told : written;
}

static int run_monitor(int argc, char **argv)
{
    monitor_asks asks = {0};
    int own = 1;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    const char *nothing;
    options_end end = options_parse(&monitor_command, &asks, own, argv, &nothing);
    if (end != OPTIONS_GOOD)
        return end == OPTIONS_HELPED ? 0 : GR_USAGE;
    if (own + 1 >= argc)
        return complain(GR_USAGE, "monitor",
                        "which command? gradus monitor -- COMMAND, such as gradus monitor -- make");
    if (gpu_asked() < 0)
        return complain(GR_USAGE, "monitor", "GRADUS_GPU is \"%.40s\"; it must be the number of a GPU, or unset",
                        getenv("GRADUS_GPU"));
    if (!asks.query_gpu)
        return monitor(&asks, NULL, argv + own + 1);
    gpu_query query;
    int code = gpu_query_open(&query, asks.query_gpu, gpu_asked());
    if (code == 0)
        code = monitor(&asks, &query, argv + own + 1);
    gpu_query_close(&query);
    return code;
}

static const option monitor_options[] = {
    POSITIVE_OPTION("every", "SECONDS", offsetof(monitor_asks, every), "between two samples (default: 1)"),
    TEXT_OPTION("query-gpu", "FIELDS", offsetof(monitor_asks, query_gpu),
                "what a GPU tells at each sample, by the names of nvidia-smi, such as utilization.gpu,clocks.sm"),
    TEXT_OPTION("csv", "FILE", offsetof(monitor_asks, csv), "a line for each sample, as they come"),
    TEXT_OPTION("json", "FILE", offsetof(monitor_asks, json), "the summary as one line of JSON"),
    {0},
};

static const option_group groups[] = {{"Options", monitor_options, NULL, 0}, {0}};

const gradus_command monitor_command = {
    .name = "monitor",
    .purpose = "what any program takes: processor, memory, page faults, power",
    .usage = "monitor [options] -- COMMAND [ARGUMENT...]",
    .about =
        "Run a command and sample, once an interval, what it and all processes that it starts take: cores that are "
        "busy, memory, page faults, the power of the processor where its counters may be read, and the use of an "
        "NVIDIA GPU where there is one. The command's input and output are its own. A summary with the "
        "definition of each number goes to stderr. Signals are passed on, and the exit code is the command's "
        "(128 + N where signal N ended it; 127: there is no such command).",
    .examples = "monitor -- gradus train cifar10-cnn --procedural --updates 200\n"
                "monitor --every 0.2 --csv usage.csv --json usage.json -- make -j2",
    .groups = groups,
    .run = run_monitor,
};
