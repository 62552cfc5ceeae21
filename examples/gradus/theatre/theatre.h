/* theatre.h - one block of a program's kernels as a page, for gradus theatre and gradus puzzle. */
#ifndef GRADUS_THEATRE_H
#define GRADUS_THEATRE_H

#include "theatre/scene.h"

/*
 * Runs a program that was compiled with every access checked, watches the block, and writes the page to out. folder:
 * for what the emulator writes down, which is removed. Returns the program's exit code, or another where there is no
 * page, complained of.
 */
int theatre_show(const char *program, char **arguments, const scene_wish *wish, const char *folder, const char *out);

#endif
