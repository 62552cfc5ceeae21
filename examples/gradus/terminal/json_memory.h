/*
 * json_memory.h - whether the JSON library has had all the memory it asked for. Rows and tables are put together by
 * hundreds of its calls; where one of them failed something is missing, and what is printed is no result.
 *
 * Jansson 2.14 itself does not bear such a failure: its reader drops a byte of a word that it has no room for and goes
 * on, past the word's end (load.c, lex_save). So a call that the C library fails is served from a reserve, and the
 * failure is told by json_memory_failed(). Where the reserve ends, too, so does the program, with 4.
 */
#ifndef GRADUS_JSON_MEMORY_H
#define GRADUS_JSON_MEMORY_H

#include <jansson.h>
#include <stdbool.h>

void json_memory_watch(void); /* before the first of its calls */
bool json_memory_failed(void);

/* Why there is no value of a file. */
typedef struct {
    int code; /* GR_IO_ERROR or GR_NO_MEMORY: the system has failed; GR_BAD_DATA: no such file, or it is no JSON */
    int line; /* that is wrong */
    char text[JSON_ERROR_TEXT_LENGTH];
} json_fault;

/* A file's value, no key twice. NULL: there is none, which why tells, or no memory, for the file itself too. */
json_t *json_read(const char *path, json_fault *why);

/* A value as text, which free() takes as it does not take json_dumps()'s. NULL: no memory, or the value is NULL. */
char *json_text(const json_t *value, size_t flags);

#endif
