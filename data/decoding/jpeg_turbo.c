/*
 * jpeg_turbo.c - see jpeg_turbo.h. The exact integer transform and the smooth upsampling of chroma are libjpeg's own
 * defaults and Pillow's, so that pixels are those of Pillow to the bit.
 */
#include "data/decoding/jpeg_turbo.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

/* By its words alone libjpeg-turbo tells that there was no memory for it. */
static bool lacks_memory(tjhandle turbo)
{
    const char *why = tjGetErrorStr2(turbo);
    return strstr(why, "nsufficient memory") || strstr(why, "emory allocation failure");
}

gr_decoded gr__jpeg_turbo(const uint8_t *bytes, size_t size, gr_frame frame, gr_picture *picture)
{
    int width, height, subsampling, colours;
    tjhandle turbo = tjInitDecompress();
    uint8_t *rgb = turbo ? malloc((size_t)(frame.width * frame.height * 3)) : NULL;
    bool good = rgb && tjDecompressHeader3(turbo, bytes, size, &width, &height, &subsampling, &colours) == 0 &&
                width == frame.width && height == frame.height && colours != TJCS_CMYK && colours != TJCS_YCCK &&
                tjDecompress2(turbo, bytes, size, rgb, width, 0, height, TJPF_RGB,
                              TJFLAG_ACCURATEDCT | TJFLAG_STOPONWARNING) == 0;
    const bool no_memory = !good && (!rgb || lacks_memory(turbo));
    if (turbo)
        tjDestroy(turbo);
    if (good)
        *picture = (gr_picture){.height = height, .width = width, .rgb = rgb};
    else
        free(rgb);
    return good ? GR__DECODED : no_memory ? GR__OUT_OF_MEMORY : GR__UNDECODABLE;
}
