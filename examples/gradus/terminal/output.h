/*
 * output.h - files that appear whole or not at all: written under a temporary name beside the target, synced, renamed.
 * A run claims its files before it starts, so that an unwritable one is known at once.
 */
#ifndef GRADUS_OUTPUT_H
#define GRADUS_OUTPUT_H

#include <stdio.h>

#include "terminal/complain.h"

typedef struct {
    char path[3072];
    gr_temporary temporary; /* whose name stays where it is until it is committed or dropped */
    FILE *file;             /* NULL when not open */
} output;

/* Opens a temporary file for path. Returns 0, GR_IO_ERROR or GR_NO_MEMORY, complained of. */
int output_open(output *out, const char *path, const char *command);

/* Gives the file its name. Returns as output_open; where not 0 nothing new is left behind. */
int output_commit(output *out, const char *command);

/* Drops the file. An output that is not open is left alone. */
void output_drop(output *out);

/* Claims that path can be written, leaving nothing. Returns as output_open. */
int output_check(const char *path, const char *command);

/*
 * Refuses outputs of which two are one file, where the later one would take the place of the first. paths: n of them,
 * NULL those that nobody asked for. Returns 0 or GR_USAGE, complained of.
 */
int output_check_apart(const char *const *paths, int n, const char *command);

/* Refuses an output that would take the place of one of the inputs, n of them, NULL those that nobody asked for. */
int output_check_spares(const char *path, const char *const *inputs, int n, const char *command);

/* Makes a folder and those above it. Returns 0 or GR_IO_ERROR, complained of. */
int folder_make(const char *path, const char *command);

#endif
