/*
 * decode.c - JPEG and PNG by stb_image, behind checks that it leaves to its caller; JPEGs first by libjpeg-turbo where
 * the library was built with it.
 *
 * Files come from strangers. What a decoder may take is bounded before it starts: bytes of the file, pixels, and bytes
 * of any one of its buffers, which a PNG of one pixel and a few kilobytes could otherwise blow up to gigabytes.
 */
#include "data/data.h"
#include "data/decoding/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/context.h"
#include "data/decoding/file_check.h"
#include "data/decoding/jpeg_turbo.h"

enum {
    MAX_SIDE = 16384, /* pixels */
    MAX_PIXELS = 1 << 26
};

/*
 * Bytes that one buffer of this thread's stb_image may have, whether it has asked for more, and whether there was no
 * memory for what it asked for: what it reports itself does not tell these apart, and may be of another picture.
 */
static _Thread_local size_t buffer_limit;
static _Thread_local bool over_limit, no_memory;

/*
 * The most that a picture honestly needs: 8 bytes a pixel (RGBA of 16 bits, or less for a JPEG, whose sides are rounded
 * up to at most 64 pixels) or the file's own bytes, doubled because buffers grow so, and the decoder's own state.
 */
static size_t plausible_size(gr_frame frame, size_t file)
{
    return (size_t)((frame.width + 64) * (frame.height + 64)) * 16 + 2 * file + (64 << 10);
}

static void *within_limit(size_t size, void *p)
{
    over_limit |= size > buffer_limit;
    no_memory |= size <= buffer_limit && !p;
    return p;
}

/* Zeroed: where a damaged file leaves pixels unwritten they are the same on every run. */
static void *limited_alloc(size_t size)
{
    return within_limit(size, size > buffer_limit ? NULL : calloc(1, size));
}

static void *limited_realloc(void *p, size_t size)
{
    return within_limit(size, size > buffer_limit ? NULL : realloc(p, size));
}

#define STBI_MALLOC(size) limited_alloc(size)
#define STBI_REALLOC(p, size) limited_realloc(p, size)
#define STBI_FREE(p) free(p)
#define STBI_MAX_DIMENSIONS MAX_SIDE
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#pragma GCC diagnostic ignored "-Wunused-function" /* it declares functions of formats that are left out */
#include <stb_image.h>

gr_code gr__decoded_code(gr_decoded result)
{
    static const gr_code codes[] = {[GR__DECODED] = GR_OK,
                                    [GR__UNDECODABLE] = GR_BAD_DATA,
                                    [GR__UNREADABLE] = GR_IO_ERROR,
                                    [GR__OUT_OF_MEMORY] = GR_NO_MEMORY};
    return codes[result];
}

static gr_decoded undecodable(char reason[GR__REASON_SIZE], const char *why)
{
    snprintf(reason, GR__REASON_SIZE, "%s", why);
    return GR__UNDECODABLE;
}

/* Whether a picture is small enough to be decoded; else reason says so. */
static bool is_small_enough(gr_frame frame, char reason[GR__REASON_SIZE])
{
    if (frame.width <= MAX_SIDE && frame.height <= MAX_SIDE && frame.width * frame.height <= MAX_PIXELS)
        return true;
    snprintf(reason, GR__REASON_SIZE, "%lld x %lld pixels; at most %d a side and %d in all are read",
             (long long)frame.width, (long long)frame.height, MAX_SIDE, MAX_PIXELS);
    return false;
}

/* Decodes bytes that have passed the check of their format. */
static gr_decoded decode_checked(const char *format, const uint8_t *bytes, size_t size, gr_frame frame,
                                 gr_picture *picture, char reason[GR__REASON_SIZE])
{
    int width, height, channels;
    over_limit = no_memory = false;
    buffer_limit = plausible_size(frame, size);
    uint8_t *rgb = stbi_load_from_memory(bytes, (int)size, &width, &height, &channels, 3);
    if (rgb) {
        *picture = (gr_picture){.height = height, .width = width, .rgb = rgb};
        return GR__DECODED;
    }
    if (over_limit)
        return undecodable(reason, "its contents unpack to more than its pixels need");
    if (no_memory)
        return GR__OUT_OF_MEMORY;
    const char *why = stbi_failure_reason();
    snprintf(reason, GR__REASON_SIZE, "a damaged or unsupported %s (stb_image: %s)", format, why ? why : "no reason");
    return GR__UNDECODABLE;
}

static gr_decoded decode_png(const uint8_t *bytes, size_t size, gr_picture *picture, char reason[GR__REASON_SIZE])
{
    gr_frame frame;
    size_t clean_size;
    uint8_t *clean = malloc(size + GR__PNG_PALETTE);
    if (!clean)
        return GR__OUT_OF_MEMORY;
    const char *fault = gr__check_png(bytes, size, clean, &clean_size, &frame);
    gr_decoded result = fault ? undecodable(reason, fault) : GR__UNDECODABLE;
    if (!fault && is_small_enough(frame, reason))
        result = decode_checked("PNG", clean, clean_size, frame, picture, reason);
    free(clean);
    return result;
}

#ifdef GRADUS_WITH_TURBOJPEG
static const bool with_turbo = true;
#else
static const bool with_turbo = false;

gr_decoded gr__jpeg_turbo(const uint8_t *bytes, size_t size, gr_frame frame, gr_picture *picture)
{
    (void)bytes, (void)size, (void)frame, (void)picture;
    return GR__UNDECODABLE;
}
#endif

bool gr__jpeg_decoder_is_known(gr_context *ctx)
{
    const char *forced = getenv("GRADUS_JPEG");
    if (!forced || !*forced || !strcmp(forced, "stb_image") || (with_turbo && !strcmp(forced, "libjpeg-turbo")))
        return true;
    return gr__fail(ctx, GR_USAGE, "GRADUS_JPEG is \"%s\", and must be stb_image%s; unset it for %s", forced,
                    with_turbo ? " or libjpeg-turbo" : ", the only decoder of this build", gr_jpeg_decoder());
}

const char *gr_jpeg_decoder(void)
{
    const char *forced = getenv("GRADUS_JPEG");
    return with_turbo && !(forced && strcmp(forced, "stb_image") == 0) ? "libjpeg-turbo" : "stb_image";
}

/* What libjpeg-turbo does not take without a word is left to stb_image, so that both builds refuse the same files. */
static gr_decoded decode_clean_jpeg(const uint8_t *clean, size_t size, gr_frame frame, gr_jpeg_choice choice,
                                    gr_picture *picture, char reason[GR__REASON_SIZE])
{
    if (!is_small_enough(frame, reason))
        return GR__UNDECODABLE;
    const gr_decoded by_turbo = choice == GR__JPEG_STB ? GR__UNDECODABLE : gr__jpeg_turbo(clean, size, frame, picture);
    if (by_turbo != GR__UNDECODABLE) /* out of memory, another decoder would give other pixels */
        return by_turbo;
    if (choice == GR__JPEG_TURBO)
        return undecodable(reason, "libjpeg-turbo has something against it");
    return decode_checked("JPEG", clean, size, frame, picture, reason);
}

static gr_decoded decode_jpeg(const uint8_t *bytes, size_t size, gr_jpeg_choice choice, gr_picture *picture,
                              char reason[GR__REASON_SIZE])
{
    gr_frame frame;
    size_t clean_size;
    uint8_t *clean = malloc(size);
    if (!clean)
        return GR__OUT_OF_MEMORY;
    const char *fault = gr__check_jpeg(bytes, size, clean, &clean_size, &frame);
    gr_decoded result =
        fault ? undecodable(reason, fault) : decode_clean_jpeg(clean, clean_size, frame, choice, picture, reason);
    free(clean);
    return result;
}

gr_decoded gr__decode_bytes(const uint8_t *bytes, size_t size, gr_picture *picture, char reason[GR__REASON_SIZE])
{
    bool stb = strcmp(gr_jpeg_decoder(), "stb_image") == 0;
    return gr__decode_bytes_by(stb ? GR__JPEG_STB : GR__JPEG_ANY, bytes, size, picture, reason);
}

/* Says what else it is, where that is something that people take for a JPEG, or that has one's name. */
static gr_decoded undecodable_format(const uint8_t *bytes, size_t size, char reason[GR__REASON_SIZE])
{
    static const struct {
        const char *name;
        size_t at, length;
        const char *first; /* [length] bytes from at on */
    } known[] = {{"a WebP", 8, 4, "WEBP"},          {"a HEIC", 4, 7, "ftyphei"},
                 {"a HEIC", 4, 8, "ftypmif1"},      {"an AVIF", 4, 8, "ftypavif"},
                 {"a GIF", 0, 4, "GIF8"},           {"a TIFF", 0, 4, "II*\0"},
                 {"a TIFF", 0, 4, "MM\0*"},         {"a BMP", 0, 2, "BM"},
                 {"a PDF", 0, 4, "%PDF"},           {"a web page", 0, 9, "<!DOCTYPE"},
                 {"a web page", 0, 9, "<!doctype"}, {"a web page", 0, 5, "<html"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size >= known[i].at + known[i].length &&
            memcmp(bytes + known[i].at, known[i].first, known[i].length) == 0) {
            snprintf(reason, GR__REASON_SIZE, "%s, neither a JPEG nor a PNG, by its first bytes", known[i].name);
            return GR__UNDECODABLE;
        }
    return undecodable(reason, "neither a JPEG nor a PNG, by its first bytes");
}

gr_decoded gr__decode_bytes_by(gr_jpeg_choice choice, const uint8_t *bytes, size_t size, gr_picture *picture,
                               char reason[GR__REASON_SIZE])
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    *picture = (gr_picture){0};
    if (size == 0)
        return undecodable(reason, "an empty file");
    if (size > GR__MAX_FILE)
        return undecodable(reason, "larger than 64 MiB");
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        return decode_png(bytes, size, picture, reason);
    if (size >= 2 && bytes[0] == 0xff && bytes[1] == 0xd8)
        return decode_jpeg(bytes, size, choice, picture, reason);
    return undecodable_format(bytes, size, reason);
}

/* Whether it is the file that is at fault where it cannot be opened or read, as error says. */
static gr_decoded no_bytes(int error, char reason[GR__REASON_SIZE])
{
    undecodable(reason, strerror(error));
    return gr__is_paths_fault(error) ? GR__UNDECODABLE : error == ENOMEM ? GR__OUT_OF_MEMORY : GR__UNREADABLE;
}

/* Reads an open regular file that says it has size bytes; fewer if it has become shorter. */
static gr_decoded read_open_file(int file, size_t size, uint8_t **bytes, size_t *have, char reason[GR__REASON_SIZE])
{
    *bytes = malloc(size + 1);
    if (!*bytes)
        return GR__OUT_OF_MEMORY;
    *have = 0;
    ssize_t got = 1;
    while (*have < size && got > 0) {
        got = read(file, *bytes + *have, size - *have);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *have += (size_t)got;
    }
    if (got >= 0)
        return GR__DECODED;
    int why = errno;
    free(*bytes);
    *bytes = NULL;
    return no_bytes(why, reason);
}

gr_decoded gr__read_file(const char *path, uint8_t **bytes, size_t *size, char reason[GR__REASON_SIZE])
{
    *bytes = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us up */
    struct stat status;
    if (file < 0)
        return no_bytes(errno, reason);
    gr_decoded result;
    if (fstat(file, &status) != 0)
        result = no_bytes(errno, reason);
    else if (!S_ISREG(status.st_mode))
        result = undecodable(reason, S_ISDIR(status.st_mode) ? "a folder, not a picture" : "not a regular file");
    else if (status.st_size > GR__MAX_FILE)
        result = undecodable(reason, "larger than 64 MiB");
    else
        result = read_open_file(file, (size_t)status.st_size, bytes, size, reason);
    close(file);
    return result;
}

void gr__picture_free(gr_picture *picture)
{
    free(picture->rgb);
    *picture = (gr_picture){0};
}
