/* jpeg_turbo.h - JPEGs by libjpeg-turbo, where the library was built with it (GRADUS_WITH_TURBOJPEG). */
#ifndef GRADUS_JPEG_TURBO_H
#define GRADUS_JPEG_TURBO_H

#include "data/decoding/file_check.h"
#include "data/decoding/image.h"

/*
 * Decodes a JPEG that has passed its check. GR__UNDECODABLE, with nothing to free: libjpeg-turbo has anything at all to
 * say against it, warnings included, or it is of CMYK; another decoder may judge.
 */
gr_decoded gr__jpeg_turbo(const uint8_t *bytes, size_t size, gr_frame frame, gr_picture *picture);

#endif
