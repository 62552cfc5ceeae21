/* bench_peer.c - see bench_peer.h. */
#include "bench/bench_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal/json_memory.h"
#include "terminal/json_values.h"
#include "terminal/system.h"

enum { LINE = 1 << 16 /* of an answer, at most: the times of a turn */ };

static void become(char *const *words, const int in[2], const int out[2])
{
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    close(in[0]), close(in[1]), close(out[0]), close(out[1]);
    signal(SIGPIPE, SIG_DFL);
    execvp(words[0], words);
    printf("{\"error\": \"%s cannot be run: %s\"}\n", words[0], strerror(errno));
    fflush(stdout);
    _exit(127);
}

bool peer_start(bench_peer *p, char *const *words, double limit)
{
    int in[2], out[2];
    *p = (bench_peer){.pid = -1, .to = -1, .from = -1, .limit = limit};
    signal(SIGPIPE, SIG_IGN); /* one that has ended is told by write */
    if (pipe(in) == 0 && pipe(out) == 0) {
        fflush(NULL);
        p->pid = fork();
        if (p->pid == 0)
            become(words, in, out);
        close(in[0]), close(out[1]);
        p->to = in[1];
        p->from = out[0];
        fcntl(p->to, F_SETFL, O_NONBLOCK);
        fcntl(p->from, F_SETFL, O_NONBLOCK);
        fcntl(p->to, F_SETFD, FD_CLOEXEC);
        fcntl(p->from, F_SETFD, FD_CLOEXEC);
    }
    if (p->pid < 0)
        snprintf(p->why, sizeof p->why, "%s cannot be run: %s", words[0], strerror(errno));
    return p->pid > 0;
}

void peer_stop(bench_peer *p)
{
    if (p->to >= 0)
        close(p->to), close(p->from);
    if (p->pid > 0) {
        kill(p->pid, SIGKILL);
        while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    p->pid = p->to = p->from = -1;
}

/* Waits until fd can be read or written. False: it has taken too long. */
static bool ready(bench_peer *p, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        const double left = p->deadline - now_seconds();
        const int n = left > 0 ? poll(&one, 1, (int)(1e3 * left) + 1) : 0;
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            break;
    }
    snprintf(p->why, sizeof p->why, "it gave no answer within %.0f s", p->limit);
    return false;
}

static bool ended(bench_peer *p)
{
    if (!*p->why)
        snprintf(p->why, sizeof p->why, "it has ended without an answer");
    return false;
}

bool peer_send(bench_peer *p, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        const ssize_t put = write(p->to, at, n);
        if (put > 0) {
            at += put;
            n -= (size_t)put;
        } else if (errno != EAGAIN && errno != EINTR)
            return ended(p);
        else if (!ready(p, p->to, POLLOUT))
            return false;
    }
    return true;
}

bool peer_receive(bench_peer *p, void *bytes, size_t n)
{
    for (char *at = bytes; n > 0;) {
        const ssize_t got = read(p->from, at, n);
        if (got > 0) {
            at += got;
            n -= (size_t)got;
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return ended(p);
        else if (!ready(p, p->from, POLLIN))
            return false;
    }
    return true;
}

bool peer_ask(bench_peer *p, json_t *question)
{
    char *text = json_text(question, JSON_COMPACT);
    p->deadline = now_seconds() + p->limit;
    bool good = text && (peer_send(p, text, strlen(text)) && peer_send(p, "\n", 1));
    if (!text)
        snprintf(p->why, sizeof p->why, "out of host memory for the question");
    free(text);
    json_decref(question);
    return good;
}

/* The answer's line. False: why. */
static bool read_line(bench_peer *p, char text[LINE])
{
    for (size_t n = 0; n < LINE; n++) {
        if (!peer_receive(p, text + n, 1))
            return false;
        if (text[n] == '\n') {
            text[n] = '\0';
            return true;
        }
    }
    snprintf(p->why, sizeof p->why, "its answer has no end");
    return false;
}

json_t *peer_answer(bench_peer *p)
{
    char *text = malloc(LINE);
    json_t *o = text && read_line(p, text) ? json_loads(text, 0, NULL) : NULL;
    if (!o && !*p->why)
        snprintf(p->why, sizeof p->why, text ? "its answer is no JSON: %.80s" : "out of host memory for its answer",
                 text);
    free(text);
    if (o && *text_at(o, "error")) {
        snprintf(p->why, sizeof p->why, "%s", text_at(o, "error"));
        json_decref(o);
        return NULL;
    }
    return o;
}
