/* complain.h - what the program says when something is wrong, and the exit codes that go with it. */
#ifndef GRADUS_COMPLAIN_H
#define GRADUS_COMPLAIN_H

#include "gradus.h"

enum { TOOL_CELLS_FAILED = 1 }; /* exit code of a sweep some of whose cells failed; all others are a gr_code */

/* Prints "gradus COMMAND: message" on stderr and returns code. */
int complain(gr_code code, const char *command, const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * From now on this thread writes no complaints, nor may it tell anything else: another one speaks for it. What it last
 * complained of, for that other to tell; "" before.
 */
void complain_quietly(void);
bool is_quiet(void);
const char *complaint_kept(void);
void complain_aloud(void); /* again, where it was not quiet before */

/* Before a thread's complaint that ends the program at once: it is written, and others that want to end it wait. */
void complain_at_last(void);

/* The same for the error that stands in ctx. */
int complain_of(const gr_context *ctx, const char *command);

/* "PATH WHAT: why", by errno, such as "cannot be read". Returns GR_IO_ERROR, or GR_NO_MEMORY where that is why. */
int complain_of_file(const char *path, const char *what, const char *command);

#endif
