/* system.h - what the program asks of the machine around it. */
#ifndef GRADUS_SYSTEM_H
#define GRADUS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

double now_seconds(void); /* on a clock that only goes forward */

/*
 * The beginning of a file into text[size], ended with a 0. Returns how many bytes that are, 0 where there is none or it
 * cannot be read. It takes no memory, as a stream would, so none can be wanting.
 */
size_t read_beginning(const char *path, char *text, size_t size);

/* The text behind "KEY ... :" or the whole first line (key NULL) of a file of the system. False: there is none. */
bool read_system(const char *path, const char *key, char *text, size_t size);

/* As the system names it, into text, which is returned; "unknown". */
const char *processor_name(char *text, size_t size);

/* Now, in UTC: "2026-11-22T14:36:00Z", into text, which is returned. */
const char *now_text(char text[32]);

/* Complains as complain_of_file does, and ends the program: what it is without that file would be another thing. */
_Noreturn void end_for_want_of(const char *path, const char *what);

/* The number of a GPU in GRADUS_GPU, as the device cuda reads it: 0 where it is not set, -1 where it is none. */
int gpu_asked(void);

/*
 * What kind of file has this path, as stat tells it; 0: there is none. Where the system cannot tell, the program ends
 * (GR_IO_ERROR): what is thought of as missing would be made anew, or something else taken in its place.
 */
mode_t mode_of(const char *path);

/* Whether two paths lead to one file or folder. */
bool is_same_file(const char *a, const char *b);

/* Characters of a path without slashes behind it; 1 of the root. */
size_t path_length(const char *path);

/* True when path is a folder, a file that can be read, one that can be executed. */
bool is_folder(const char *path);
bool is_readable_file(const char *path);
bool is_executable_file(const char *path);

/*
 * Has the numbers of stdin, stdout and stderr taken where they are closed, by what cannot be read or written: no file
 * that is opened later gets what is printed, and printing fails. False: it cannot be done.
 */
bool hold_standard_streams(void);

/* Path of a file that belongs to the program (NAME of scripts/ or examples/, installed under share/gradus). */
bool find_companion(const char *folder, const char *name, char *path, size_t size);

/*
 * The Python to draw with, which must have matplotlib: $PYTHON, else the first of python3 and /usr/bin/python3. NULL:
 * none.
 */
const char *drawing_python(void);

#endif
