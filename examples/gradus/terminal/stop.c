/* stop.c - see stop.h. */
#include "terminal/stop.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "gradus.h"

static volatile sig_atomic_t asked, may_wait;

static void on_signal(int number)
{
    (void)number;
    if (!may_wait)
        _exit(GR_STOPPED);
    asked = 1;
}

void stop_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: a sweep's wait for its cell must wake up */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void stop_at_next_chance(void)
{
    may_wait = 1;
}

bool stop_asked(void)
{
    return asked != 0;
}
