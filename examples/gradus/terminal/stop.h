/*
 * stop.h - SIGINT and SIGTERM ask a run to stop at the next good moment. Before anything is at stake (data are
 * being read, nothing is open) they end the program at once.
 */
#ifndef GRADUS_STOP_H
#define GRADUS_STOP_H

#include <stdbool.h>

void stop_catch(void);          /* from now on signals end the program at once, with exit code 75 */
void stop_at_next_chance(void); /* from now on they only ask */
bool stop_asked(void);

#endif
