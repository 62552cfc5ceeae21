/*
 * stop.h - SIGINT, SIGTERM, SIGHUP and SIGUSR1 ask a run to stop at the next good moment. Before anything is at stake
 * (data are being read, nothing is open) they end the program at once, as a second SIGINT and SIGQUIT always do.
 */
#ifndef GRADUS_STOP_H
#define GRADUS_STOP_H

#include <stdbool.h>

void stop_catch(void);          /* from now on signals end the program at once, with exit code 75 */
void stop_at_next_chance(void); /* from now on they only ask */
bool stop_asked(void);

/* A file that a program which is ended at once takes with it, until stop_will_keep; the path stays the caller's. */
void stop_will_remove(const char *path);
void stop_will_keep(const char *path);

void stop_clear_away(void); /* removes such files now, by calls that a signal's handler may make */

#endif
