/* cell.c - see cell.h. */
#include "sweep/cell.h"

#include <errno.h>
#include <fcntl.h>
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

static void become_cell(char *const *argv, const int out[2], const int err[2], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a sweep that is killed must not leave a cell behind that nobody listens to */
    if (getppid() != parent)
        _exit(GR_STOPPED);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    execv("/proc/self/exe", argv);
    fprintf(stderr, "gradus cannot be run again: %s\n", strerror(errno));
    _exit(GR_IO_ERROR);
}

static bool start(cell_process *p, char *const *argv)
{
    int out[2], err[2];
    pid_t parent = getpid();
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    if (pipe2(err, O_CLOEXEC) != 0) {
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

static void on_out(cell_process *p, const char *line)
{
    free(p->end.result);
    p->end.result = strdup(line);
    p->end.lost |= !p->end.result;
}

/* Keeps the last lines that fit. */
static void on_err(cell_process *p, const char *line)
{
    char *kept = p->end.trouble;
    size_t room = sizeof p->end.trouble, need = strlen(line) + 2;
    while (*kept && strlen(kept) + need > room) {
        char *next = strchr(kept, '\n');
        memmove(kept, next ? next + 1 : kept + strlen(kept), next ? strlen(next + 1) + 1 : 1);
    }
    size_t used = strlen(kept);
    snprintf(kept + used, room - used, "%s%s", used ? "\n" : "", line);
    p->told(p->user, line);
}

static void add(cell_process *p, cell_lines *l, const char *bytes, size_t n,
                void (*on_line)(cell_process *, const char *))
{
    if (l->length + n + 1 > l->size) {
        char *grown = realloc(l->text, 2 * (l->length + n + 1));
        if (!grown) {
            p->end.lost = true;
            return;
        }
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
static void drain(cell_process *p, int *pipe_end, cell_lines *l, void (*on_line)(cell_process *, const char *))
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

void cell_stop(cell_process *p)
{
    if (!p->asked_to_stop)
        kill(p->pid, SIGTERM);
    p->asked_to_stop = true;
}

/* Sends the signals that are due. */
static void look_after(cell_process *p)
{
    if (stop_asked())
        cell_stop(p);
    if (p->limit > 0 && now_seconds() - p->begin > p->limit && !p->end.timed_out) {
        kill(p->pid, SIGKILL);
        p->end.timed_out = true;
    }
}

/* One of them that has closed both its pipes; -1: none. */
static int find_over(cell_process *const *list, int n)
{
    for (int i = 0; i < n; i++)
        if (list[i]->out < 0 && list[i]->err < 0)
            return i;
    return -1;
}

int cells_listen(cell_process *const *list, int n)
{
    struct pollfd fds[2 * MOST_CELLS];
    const int before = find_over(list, n); /* two may be over at once */
    if (before >= 0)
        return before;
    for (int i = 0; i < n; i++) {
        look_after(list[i]);
        fds[2 * i] = (struct pollfd){.fd = list[i]->out, .events = POLLIN};
        fds[2 * i + 1] = (struct pollfd){.fd = list[i]->err, .events = POLLIN};
    }
    if (poll(fds, 2 * (nfds_t)n, 1000) <= 0) /* wakes up at a signal, and now and then for one that came just before */
        return -1;
    for (int i = 0; i < n; i++) {
        if (fds[2 * i].revents)
            drain(list[i], &list[i]->out, &list[i]->out_lines, on_out);
        if (fds[2 * i + 1].revents)
            drain(list[i], &list[i]->err, &list[i]->err_lines, on_err);
    }
    return find_over(list, n);
}

bool cell_start(cell_process *p, char *const *argv)
{
    p->begin = now_seconds();
    if (start(p, argv))
        return true;
    complain(GR_IO_ERROR, "sweep", "no process for a cell: %s", strerror(errno));
    return false;
}

cell_end cell_reap(cell_process *p)
{
    int status = 0;
    while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    p->end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    p->end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    p->end.seconds = now_seconds() - p->begin;
    free(p->out_lines.text);
    free(p->err_lines.text);
    return p->end;
}
