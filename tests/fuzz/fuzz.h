/* fuzz.h - what the fuzz targets share. Each target gives LLVMFuzzerTestOneInput; replay.c feeds it files instead. */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Ends the program, which a fuzzer counts as a find, where what must hold does not. */
static inline void must(bool holds)
{
    if (!holds)
        abort();
}

/* A file in memory that holds these bytes; slot: which of a target's files. Path in path. */
static inline void memory_file(int slot, const uint8_t *bytes, size_t size, char path[64])
{
    static int files[8];
    if (!files[slot])
        files[slot] = memfd_create("fuzz", 0);
    must(files[slot] > 0 && ftruncate(files[slot], 0) == 0 && pwrite(files[slot], bytes, size, 0) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", files[slot]);
}

/* Gives every block of a tar archive that says it is a header its right check sum: nobody gets past those by chance. */
static inline void mend_tar(uint8_t *bytes, size_t size)
{
    enum { BLOCK = 512, SUM = 148, MAGIC = 257 };
    for (size_t at = 0; at + BLOCK <= size; at += BLOCK) {
        uint8_t *header = bytes + at;
        unsigned sum = 0;
        if (memcmp(header + MAGIC, "ustar", 5) != 0)
            continue;
        memset(header + SUM, ' ', 8);
        for (int i = 0; i < BLOCK; i++)
            sum += header[i];
        snprintf((char *)header + SUM, 8, "%06o", sum);
    }
}

/* A copy that ends where its allocation ends, so that reading one byte too many is seen. */
static inline uint8_t *copy_of(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = calloc(1, size ? size : 1);
    must(copy);
    if (size)
        memcpy(copy, bytes, size);
    return copy;
}

#endif
