/* names.h - lists of names: what a person may write where one of several things is meant. */
#ifndef GRADUS_NAMES_H
#define GRADUS_NAMES_H

#include <stddef.h>

/*
 * The names in an array whose elements begin with one (a const char *, or a struct that describes what has the name)
 * and whose last has none (NULL).
 */
typedef struct {
    const void *first;
    size_t stride; /* bytes from one to the next */
} name_list;
/* clang-format off */
#define NAMES(array) {(array), sizeof *(array)}
/* clang-format on */

/* Name i; NULL behind the last. */
const char *name_at(name_list names, int i);

/* The place of a name; -1: there is none such. */
int name_find(name_list names, const char *name);

/* The name most like word, or NULL when none is near. */
const char *nearest(const char *word, name_list names);

/* "sgd, momentum and adam" into text, which is returned. */
const char *names_text(name_list names, char *text, size_t size);

#endif
