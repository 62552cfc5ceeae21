/*
 * jpeg_check.c - the segments of a JPEG. Format: ITU-T T.81, annex B.
 *
 * stb_image trusts the number of codes in a Huffman table, fills what was never coded with whatever it finds, and takes
 * bytes between segments for markers. A copy of the parts that have been checked leaves it nothing to stumble over.
 */
#include <stdbool.h>
#include <string.h>

#include "data/decoding/file_check.h"

enum {
    SOF0 = 0xc0,
    SOF1 = 0xc1,
    SOF2 = 0xc2,
    DHT = 0xc4,
    RST0 = 0xd0,
    RST7 = 0xd7,
    SOI = 0xd8,
    EOI = 0xd9,
    SOS = 0xda,
    TEM = 0x01,
    MAX_SCANS = 100 /* a progressive picture has about ten; each costs a pass over all pixels */
};

static const char cut_short[] = "a truncated JPEG (it has no end marker)";

typedef struct {
    const uint8_t *at, *end; /* what is left of the file */
    uint8_t *out;            /* end of the copy */
    gr_frame frame;
    int scans;
} gr_jpeg_walk;

/* Goes to the next marker, over fill bytes and whatever else lies before it. Returns its code; -1 at the end. */
static int next_marker(gr_jpeg_walk *w)
{
    while (w->at < w->end) {
        if (*w->at++ != 0xff)
            continue;
        while (w->at < w->end && *w->at == 0xff)
            w->at++;
        if (w->at < w->end && *w->at != 0)
            return *w->at++;
    }
    return -1;
}

static void copy(gr_jpeg_walk *w, const uint8_t *bytes, size_t n)
{
    memcpy(w->out, bytes, n);
    w->out += n;
}

/* Tables of class and number, 16 counts of codes and as many symbols; p[length] */
static bool are_huffman_tables(const uint8_t *p, size_t length)
{
    while (length >= 17) {
        size_t symbols = 0;
        for (int i = 1; i <= 16; i++)
            symbols += p[i];
        if (symbols > 256 || symbols > length - 17)
            return false;
        p += 17 + symbols;
        length -= 17 + symbols;
    }
    return length == 0;
}

/* The coded data behind the header of a scan: up to the next marker that is not a restart. */
static void copy_scan_data(gr_jpeg_walk *w)
{
    const uint8_t *start = w->at;
    while ((w->at = memchr(w->at, 0xff, (size_t)(w->end - w->at))) != NULL) {
        bool coded = w->end - w->at >= 2 && (w->at[1] == 0 || (w->at[1] >= RST0 && w->at[1] <= RST7));
        if (!coded)
            break;
        w->at += 2;
    }
    if (!w->at)
        w->at = w->end;
    copy(w, start, (size_t)(w->at - start));
}

/* A segment with a length, its marker just read. NULL: copied. */
static const char *take_segment(gr_jpeg_walk *w, int marker)
{
    size_t left = (size_t)(w->end - w->at), length = left >= 2 ? gr__be16(w->at) : 0;
    if (left < 2 || length > left)
        return cut_short;
    if (length < 2)
        return "a damaged JPEG (a segment without length)";
    const uint8_t *data = w->at + 2;
    if (marker == DHT && !are_huffman_tables(data, length - 2))
        return "a damaged JPEG (a Huffman table that is none)";
    if (marker >= SOF0 && marker <= SOF2) {
        if (length < 7 || w->frame.width)
            return "a damaged JPEG (its frame header is too short, or not the only one)";
        w->frame = (gr_frame){.width = gr__be16(data + 3), .height = gr__be16(data + 1)};
    }
    if (marker == SOS && ++w->scans > MAX_SCANS)
        return "a JPEG of more than 100 scans";
    copy(w, (uint8_t[]){0xff, (uint8_t)marker}, 2);
    copy(w, w->at, length);
    w->at += length;
    if (marker == SOS)
        copy_scan_data(w);
    return NULL;
}

const char *gr__check_jpeg(const uint8_t *bytes, size_t size, uint8_t *clean, size_t *clean_size, gr_frame *frame)
{
    gr_jpeg_walk w = {.at = bytes + 2, .end = bytes + size, .out = clean};
    *frame = (gr_frame){0};
    copy(&w, bytes, 2); /* SOI, which the caller has recognised it by */
    for (int marker; (marker = next_marker(&w)) != EOI;) {
        if (marker < 0)
            return cut_short;
        bool bare = marker == TEM || (marker >= RST0 && marker <= SOI); /* no length follows, and none belongs here */
        const char *fault = bare ? NULL : take_segment(&w, marker);
        if (fault)
            return fault;
    }
    if (w.scans == 0)
        return "a JPEG without a picture";
    copy(&w, (const uint8_t[]){0xff, EOI}, 2);
    *clean_size = (size_t)(w.out - clean);
    *frame = w.frame;
    return NULL;
}
