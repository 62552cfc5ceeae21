/* process.c - see process.h. */
#include "kernels/simt/compiler/process.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* A pipe that a child writes into. */
typedef struct {
    int read, write; /* -1: none */
    char **text;
    size_t *length, room;
} ear;

static int listen_to(ear *e, char **text, size_t *length)
{
    int ends[2];
    *e = (ear){-1, -1, text, length, 0};
    if (!text)
        return 0;
    *text = NULL, *length = 0;
    if (pipe(ends))
        return -1;
    e->read = ends[0], e->write = ends[1];
    return 0;
}

/* Takes what is there. False: the end. */
static int hear(ear *e)
{
    if (*e->length + 65536 > e->room) {
        char *more = realloc(*e->text, 2 * e->room + 65536);
        if (!more)
            return 0;
        *e->text = more, e->room = 2 * e->room + 65536;
    }
    const ssize_t n = read(e->read, *e->text + *e->length, e->room - *e->length - 1);
    *e->length += n > 0 ? (size_t)n : 0;
    (*e->text)[*e->length] = '\0';
    return n > 0;
}

static void hear_all(ear ears[2])
{
    struct pollfd p[2] = {{.fd = ears[0].read, .events = POLLIN}, {.fd = ears[1].read, .events = POLLIN}};
    while (p[0].fd >= 0 || p[1].fd >= 0) {
        if (poll(p, 2, -1) < 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (p[i].fd >= 0 && p[i].revents && !hear(&ears[i])) {
                close(p[i].fd);
                p[i].fd = -1;
            }
    }
}

static void be_child(char **word, const ear ears[2])
{
    for (int i = 0; i < 2; i++)
        if (ears[i].write >= 0) {
            dup2(ears[i].write, i + 1);
            close(ears[i].write);
            close(ears[i].read);
        }
    execvp(word[0], word);
    _exit(GR__NO_PROGRAM);
}

int gr__process(char **word, char **out, size_t *out_length, char **err, size_t *err_length)
{
    ear ears[2];
    int status = 0;
    if (listen_to(&ears[0], out, out_length) || listen_to(&ears[1], err, err_length))
        return GR__NO_PROGRAM;
    const pid_t child = fork();
    if (child == 0)
        be_child(word, ears);
    for (int i = 0; i < 2; i++)
        if (ears[i].write >= 0)
            close(ears[i].write);
    if (child < 0)
        return GR__NO_PROGRAM;
    hear_all(ears);
    while (waitpid(child, &status, 0) < 0)
        ;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
