/*
 * tool.h - small things that every part of the program uses: complaints, guesses at what was meant, numbers for people.
 */
#ifndef GRADUS_TOOL_H
#define GRADUS_TOOL_H

#include <stdio.h>

#include "gradus.h"

enum { TOOL_CELLS_FAILED = 1 }; /* exit code of a sweep some of whose cells failed; all others are a gr_code */

typedef int (*command_run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */

int train_command(int argc, char **argv);
int sweep_command(int argc, char **argv);
int summary_command(int argc, char **argv);
int data_command(int argc, char **argv);
int data_show_command(int argc, char **argv); /* argv[0] is "show" */
int bench_command(int argc, char **argv);
int cuda_command(int argc, char **argv);
int doctor_command(int argc, char **argv);

/* Prints "gradus COMMAND: message" on stderr and returns code. */
int complain(gr_code code, const char *command, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same for the error that stands in ctx. */
int complain_of(const gr_context *ctx, const char *command);

/* The name most like word, or NULL when none is near. names ends with NULL. */
const char *nearest(const char *word, const char *const *names);

/* "1.50 GiB", "12.3 s", "4 min 10 s", "40,961,153" into text, which is returned. */
const char *bytes_text(double bytes, char text[32]);
const char *duration_text(double seconds, char text[32]);
const char *thousands_text(int64_t n, char text[32]);

/* Prints text and a line end, broken between words; the first line begins at column, the others at indent. */
void print_wrapped(FILE *f, const char *text, int column, int indent);

double now_seconds(void); /* on a clock that only goes forward */

int64_t memory_available(void); /* bytes that programs can still take; INT64_MAX: not known */

/* True when path is a folder, or a file that can be read. */
bool is_folder(const char *path);
bool is_readable_file(const char *path);

/* Path of a file that belongs to the program (NAME of scripts/ or examples/, installed under share/gradus). */
bool find_companion(const char *folder, const char *name, char *path, size_t size);

/*
 * The Python to draw with, which must have matplotlib: $PYTHON, else the first of python3 and /usr/bin/python3. NULL:
 * none.
 */
const char *drawing_python(void);

#endif
