/* values.h - words of a command line as numbers, and lists of them. */
#ifndef GRADUS_VALUES_H
#define GRADUS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "terminal/options.h"

/* A whole number from low to high that is all of text. */
bool parse_count(const char *text, int64_t low, int64_t high, int64_t *value);

bool parse_amount(const char *text, amount *a);
bool parse_positive(const char *text, double *value);
bool parse_bytes(const char *text, int64_t *value);

/*
 * Takes the next entry of a list with commas between them into word, and moves *list behind it. False at the end, where
 * *list is NULL. An entry that does not fit comes out empty, which no list may have.
 */
bool next_entry(const char **list, char word[32]);

/* A list of whole numbers. Returns how many; -1: word is no such number, -2: it is one too many. */
int parse_counts(const char *list, int64_t low, int64_t high, int64_t *values, int most, char word[32]);

#endif
