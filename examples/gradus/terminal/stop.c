/* stop.c - see stop.h. */
#include "terminal/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "gradus.h"

enum { MOST_FILES = 8 };

static volatile sig_atomic_t asked, may_wait;
static const char *volatile unfinished[MOST_FILES]; /* files that no run may leave behind */

void stop_clear_away(void)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (unfinished[i])
            unlink(unfinished[i]);
}

/* By calls that a signal's handler may make. */
static void end_at_once(void)
{
    static const char word[] = "gradus: stopped by a signal\n";
    stop_clear_away();
    const ssize_t written = write(STDERR_FILENO, word, sizeof word - 1);
    (void)written;
    _exit(GR_STOPPED);
}

static void on_signal(int number)
{
    if (!may_wait || number == SIGQUIT || (asked && number == SIGINT))
        end_at_once();
    asked = 1;
}

void stop_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGQUIT};
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a sweep's wait for its cell must wake up */
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (numbers[i] == SIGHUP && sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue; /* nohup */
        sigaction(numbers[i], &action, NULL);
    }
}

void stop_at_next_chance(void)
{
    may_wait = 1;
}

bool stop_asked(void)
{
    return asked != 0;
}

void stop_will_remove(const char *path)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (!unfinished[i]) {
            unfinished[i] = path;
            return;
        }
}

void stop_will_keep(const char *path)
{
    for (int i = 0; i < MOST_FILES; i++)
        if (unfinished[i] == path)
            unfinished[i] = NULL;
}
