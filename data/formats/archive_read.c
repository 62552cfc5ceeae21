/* archive_read.c - the bytes of one member of an archive. */
#include <stdlib.h>
#include <zlib.h>

#include "data/formats/archive.h"

/* Unpacks raw deflate: in[packed] must become just out[size], no byte of either left over. NULL: it did. */
static const char *inflate_exactly(const uint8_t *in, int64_t packed, uint8_t *out, int64_t size, bool *no_memory)
{
    uint8_t beyond; /* where a stream of more than size bytes would write */
    z_stream z = {
        .next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)packed, .next_out = out, .avail_out = (uInt)size};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) {
        *no_memory = true;
        return "out of memory";
    }
    int end = inflate(&z, Z_FINISH);
    if (end == Z_BUF_ERROR && z.avail_out == 0) { /* room is used up: only the end mark may be left */
        z.next_out = &beyond;
        z.avail_out = 1;
        end = inflate(&z, Z_FINISH);
    }
    bool exact = end == Z_STREAM_END && z.total_out == (uLong)size && z.avail_in == 0;
    bool more = z.total_out > (uLong)size;
    *no_memory = end == Z_MEM_ERROR;
    inflateEnd(&z);
    return exact  ? NULL
           : more ? "it unpacks to more bytes than the archive says"
                  : "its packed bytes in the archive are damaged";
}

const uint8_t *gr__archive_read(const gr_archive *archive, const gr_member *member, uint8_t **buffer,
                                const char **reason, bool *no_memory)
{
    const uint8_t *bytes = archive->bytes + member->at;
    *buffer = NULL;
    *no_memory = false;
    if (member->deflated) {
        *buffer = malloc((size_t)member->size + 1);
        *no_memory = !*buffer;
        *reason = *buffer ? inflate_exactly(bytes, member->packed, *buffer, member->size, no_memory) : "out of memory";
        bytes = *buffer;
        if (*reason) {
            free(*buffer);
            *buffer = NULL;
            return NULL;
        }
    }
    if (!member->has_crc || crc32(0, bytes, (uInt)member->size) == member->crc)
        return bytes;
    free(*buffer);
    *buffer = NULL;
    *reason = "its check sum in the archive is wrong";
    return NULL;
}
