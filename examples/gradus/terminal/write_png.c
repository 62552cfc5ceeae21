/*
 * write_png.c - see write_png.h. stb_image_write does not look whether it was given memory, so that the way out of an
 * allocation that failed is a jump.
 */
#include "terminal/write_png.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf no_memory;

static void *given(void *p)
{
    if (!p)
        longjmp(no_memory, 1);
    return p;
}

#define STBIW_MALLOC(size) given(malloc(size))
#define STBIW_REALLOC(p, size) given(realloc(p, size))
#define STBIW_FREE(p) free(p)
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>

static void write_bytes(void *file, void *bytes, int size)
{
    fwrite(bytes, 1, (size_t)size, file);
}

bool write_png(FILE *f, int width, int height, const uint8_t *pixels)
{
    if (setjmp(no_memory))
        return false;
    return stbi_write_png_to_func(write_bytes, f, width, height, 3, pixels, width * 3) != 0;
}
