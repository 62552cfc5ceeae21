/*
 * cuda_run.h - CUDA programs without a GPU: compiled by gradus-simt, which lies beside this program; run, also in a
 * debugger.
 */
#ifndef GRADUS_TOOL_CUDA_RUN_H
#define GRADUS_TOOL_CUDA_RUN_H

#include "terminal/complain.h"

/* A new folder for a program that nobody keeps, with path[room]; and its end, with these files in it. */
#define PROGRAM_NAME "program"
#define SCRIPT_NAME "stop.gdb"
bool program_folder_make(char *path, size_t room);
void program_folder_drop(const char *path);

/*
 * files (NULL behind the last) as program. options (the same): of gradus-simt. Returns 0, GR_BAD_DATA for errors in the
 * source, GR_IO_ERROR where a compiler is missing; said on stderr.
 */
int cuda_compile(const char *const *files, const char *program, const char *const *options);

/* Runs it with these arguments (NULL behind the last). Returns its exit code, 128 + N when signal N ended it. */
int cuda_run(const char *program, char **arguments);

/* The same in gdb, which is told first what is in the file script (NULL: nothing). Returns gdb's exit code. */
int cuda_run_in_gdb(const char *program, char **arguments, const char *script);

#endif
