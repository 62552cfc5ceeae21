/*
 * compile.h - from .cu files to a program that runs on the emulator, by g++ and nothing else.
 */
#ifndef GRADUS_SIMT_COMPILE_H
#define GRADUS_SIMT_COMPILE_H

#include <stdbool.h>

#include "kernels/simt/compiler/words.h"

typedef struct {
    bool check;        /* with the checks of every access, and counters */
    bool compile_only; /* -c: objects, no program */
    const char *out;   /* NULL: a.out, or FILE.o with compile_only */
    const char *name;  /* of the tool, before complaints */
    gr__words files;   /* .cu .cpp .cc .cxx .c .o .a .so */
    gr__words options; /* for g++ when it compiles: -I -D -O -g -std */
    gr__words link;    /* for g++ when it links: -l -L */
} gr__compile_job;

/*
 * Compiles and links. Returns 0, or what the program should end with: 1 errors in the source, 2 no such file, 5 no
 * compiler or no library, said on stderr with the cure. Compilers' messages speak of the writer's files alone.
 */
int gr__compile(const gr__compile_job *job);

#endif
