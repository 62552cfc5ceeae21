/* write_png.h - a picture of 8-bit RGB as a PNG. */
#ifndef GRADUS_WRITE_PNG_H
#define GRADUS_WRITE_PNG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* pixels[height, width, 3]. False: there is no memory for it; what the writer had is not given back. */
bool write_png(FILE *f, int width, int height, const uint8_t *pixels);

#endif
