/*
 * gxx.h - g++, which does what is left when CUDA C has become C++: where it finds the emulator, and what it says.
 */
#ifndef GRADUS_SIMT_GXX_H
#define GRADUS_SIMT_GXX_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/simt/compiler/words.h"

/* What gradus-simt ends with. */
enum { GR__BAD_SOURCE = 1, GR__NO_FILE = 2, GR__NO_TOOL = 5, GR__PATH_ROOM = 4096 };

/* Where the emulator's headers and library are. */
typedef struct {
    char headers[GR__PATH_ROOM], library[GR__PATH_ROOM + 64];
} gr__home;

/* Beside the running program: as installed (PREFIX/bin), or as built. False: nowhere. */
bool gr__home_find(gr__home *h, bool check);

/* $GRADUS_CXX, else g++. */
const char *gr__gxx_name(void);

/*
 * Runs it and frees the command; what it prints goes to *out[*length], where out is no NULL. Its messages are passed on
 * where they speak of the writer's files. name: the tool's, before complaints. Returns 0 or what to end with.
 */
int gr__gxx_run(const char *name, const gr__home *h, gr__words *command, char **out, size_t *length);

#endif
