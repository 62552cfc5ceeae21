/*
 * file_sums.h - checksums of files, by which pictures are known again: those that a network was trained on are no test
 * of it, wherever they lie.
 */
#ifndef GRADUS_FILE_SUMS_H
#define GRADUS_FILE_SUMS_H

#include <stdbool.h>
#include <stdint.h>

#include "gradus.h"

/* CRC-32, a file each. Zero is an empty list. */
typedef struct {
    uint32_t *list;
    int64_t n, room;
    bool lost; /* memory has run out: it is not whole */
} file_sums;

void file_sums_add(file_sums *s, uint32_t sum);

/* Adds that of a line of a manifest, "CLASS/NAME BYTES CRC-32"; for gr_image_options.taken. */
void file_sums_taken(void *sums, const char *line);

/* Adds those of a set's samples, whose files are `of` by the row they were read in. */
void file_sums_add_set(file_sums *s, const gr_dataset *set, const file_sums *of);

/* Samples of a set, with files as above, whose files are in s, too. */
int64_t file_sums_shared(const file_sums *s, const gr_dataset *set, const file_sums *of);

/* As text, 8 hex digits each, to be freed. NULL: there are none, or no memory. */
char *file_sums_text(const file_sums *s);

/* From such a text, or NULL, in an order for file_sums_has. */
file_sums file_sums_read(const char *text);
bool file_sums_has(const file_sums *s, uint32_t sum);

void file_sums_free(file_sums *s);

#endif
