/* cell.c - see cell.h. */
#include "sweep/cell.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/complain.h"
#include "terminal/stop.h"
#include "terminal/system.h"

/* What comes through one pipe, cut into lines. */
typedef struct {
    char *text; /* the line begun */
    size_t length, size;
} lines;

typedef struct {
    pid_t pid;
    int out, err;
    lines out_lines, err_lines;
    cell_end *end;
    const cell_watch *watch;
    double begin;
} process;

static void become_cell(char *const *argv, const int out[2], const int err[2], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a sweep that is killed must not leave a cell behind that nobody listens to */
    if (getppid() != parent)
        _exit(GR_STOPPED);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (int i = 0; i < 2; i++) {
        close(out[i]);
        close(err[i]);
    }
    execv("/proc/self/exe", argv);
    fprintf(stderr, "gradus cannot be run again: %s\n", strerror(errno));
    _exit(GR_IO_ERROR);
}

static bool start(process *p, char *const *argv)
{
    int out[2], err[2];
    pid_t parent = getpid();
    if (pipe(out) != 0)
        return false;
    if (pipe(err) != 0) {
        close(out[0]);
        close(out[1]);
        return false;
    }
    fflush(NULL); /* or the child would print what is still in the buffers again */
    p->pid = fork();
    if (p->pid == 0)
        become_cell(argv, out, err, parent);
    close(out[1]);
    close(err[1]);
    p->out = out[0];
    p->err = err[0];
    if (p->pid > 0)
        return true;
    close(out[0]);
    close(err[0]);
    return false;
}

static void on_out(process *p, const char *line)
{
    free(p->end->result);
    p->end->result = strdup(line);
}

/* Keeps the last lines that fit. */
static void on_err(process *p, const char *line)
{
    char *kept = p->end->trouble;
    size_t room = sizeof p->end->trouble, need = strlen(line) + 2;
    while (*kept && strlen(kept) + need > room) {
        char *next = strchr(kept, '\n');
        memmove(kept, next ? next + 1 : kept + strlen(kept), next ? strlen(next + 1) + 1 : 1);
    }
    size_t used = strlen(kept);
    snprintf(kept + used, room - used, "%s%s", used ? "\n" : "", line);
    p->watch->told(p->watch->user, line);
}

static void add(process *p, lines *l, const char *bytes, size_t n, void (*on_line)(process *, const char *))
{
    if (l->length + n + 1 > l->size) {
        char *grown = realloc(l->text, 2 * (l->length + n + 1));
        if (!grown)
            return; /* the row will be missing and the cell count as failed */
        l->text = grown;
        l->size = 2 * (l->length + n + 1);
    }
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != '\n') {
            l->text[l->length++] = bytes[i];
            continue;
        }
        l->text[l->length] = '\0';
        on_line(p, l->text);
        l->length = 0;
    }
}

/* Reads what a pipe has. Closes it at its end. */
static void drain(process *p, int *pipe_end, lines *l, void (*on_line)(process *, const char *))
{
    char bytes[4096];
    ssize_t n = read(*pipe_end, bytes, sizeof bytes);
    if (n > 0) {
        add(p, l, bytes, (size_t)n, on_line);
    } else if (n == 0 || errno != EINTR) {
        if (l->length > 0)
            add(p, l, "\n", 1, on_line);
        close(*pipe_end);
        *pipe_end = -1;
    }
}

static void listen_to(process *p)
{
    bool passed_on = false;
    while (p->out >= 0 || p->err >= 0) {
        if (stop_asked() && !passed_on) {
            kill(p->pid, SIGTERM);
            passed_on = true;
        }
        if (p->watch->limit > 0 && now_seconds() - p->begin > p->watch->limit && !p->end->timed_out) {
            kill(p->pid, SIGKILL);
            p->end->timed_out = true;
        }
        p->watch->beat(p->watch->user);
        struct pollfd fds[] = {{.fd = p->out, .events = POLLIN}, {.fd = p->err, .events = POLLIN}};
        if (poll(fds, 2, 1000) <= 0) /* wakes up at a signal, and now and then for one that came just before */
            continue;
        if (fds[0].revents)
            drain(p, &p->out, &p->out_lines, on_out);
        if (fds[1].revents)
            drain(p, &p->err, &p->err_lines, on_err);
    }
}

bool cell_run(char *const *argv, const cell_watch *watch, cell_end *end)
{
    process p = {.end = end, .watch = watch, .begin = now_seconds()};
    *end = (cell_end){0};
    if (!start(&p, argv)) {
        complain(GR_IO_ERROR, "sweep", "no process for a cell: %s", strerror(errno));
        return false;
    }
    listen_to(&p);
    int status = 0;
    while (waitpid(p.pid, &status, 0) < 0 && errno == EINTR)
        continue;
    end->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->seconds = now_seconds() - p.begin;
    free(p.out_lines.text);
    free(p.err_lines.text);
    return true;
}
