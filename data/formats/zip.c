/*
 * zip.c - where the members of a zip archive lie. Format: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 to 4.5.
 *
 * Written out over zlib instead of resting on minizip, which keeps to itself what the rules here must see (where a
 * member's local header lies, whether it bears the name of the directory's, whether two lie over each other), has one
 * current file where several threads read at once, and lies outside what our sanitizers and fuzz targets are compiled
 * into.
 *
 * Believed is the central directory, and only where each local header says the same.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/formats/archive.h"

enum {
    END_SIZE = 22,
    MAX_COMMENT = 65535,
    LOCATOR_SIZE = 20, /* zip64's */
    END64_SIZE = 56,
    ENTRY_SIZE = 46,
    LOCAL_SIZE = 30,
    STORED = 0,
    DEFLATED = 8,
    ENCRYPTED = 1, /* flag */
    UNIX = 3       /* made by */
};

/* A reading in progress. Offsets and sizes are within the file's once checked. */
typedef struct {
    gr_context *ctx;
    gr_archive *archive;
    const uint8_t *bytes;
    int64_t size;
    int64_t entries, directory, directory_size; /* as the end record has them */
    int64_t (*spans)[2];                        /* [entries] from local header to the end of its data */
} gr_zip;

static uint32_t le16(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t le32(const uint8_t *p)
{
    return le16(p) | le16(p + 2) << 16;
}

/* 64 bits; what no file can have becomes -1. */
static int64_t le64(const uint8_t *p)
{
    uint64_t value = le32(p) | (uint64_t)le32(p + 4) << 32;
    return value > INT64_MAX ? -1 : (int64_t)value;
}

/* Whether n bytes lie at an offset, both from the file. */
static bool lies_within(int64_t at, int64_t n, int64_t size)
{
    return at >= 0 && n >= 0 && at <= size && n <= size - at;
}

/* The end record: the last one whose comment goes just to the end of the file. -1: none. */
static int64_t find_end(const gr_zip *zip)
{
    int64_t lowest = zip->size - END_SIZE - MAX_COMMENT;
    for (int64_t at = zip->size - END_SIZE; at >= 0 && at >= lowest; at--)
        if (memcmp(zip->bytes + at, "PK\5\6", 4) == 0 && at + END_SIZE + le16(zip->bytes + at + 20) == zip->size)
            return at;
    return -1;
}

/* Zip64's end record, in front of the end record at. */
static bool read_end64(gr_zip *zip, int64_t *end)
{
    int64_t locator = *end - LOCATOR_SIZE;
    if (locator < 0 || memcmp(zip->bytes + locator, "PK\6\7", 4) != 0)
        return gr__archive_refuse(zip->ctx, zip->archive, "its zip64 end record is missing");
    int64_t at = le64(zip->bytes + locator + 8);
    if (!lies_within(at, END64_SIZE, locator) || memcmp(zip->bytes + at, "PK\6\6", 4) != 0)
        return gr__archive_refuse(zip->ctx, zip->archive, "its zip64 end record is not where it should be");
    zip->entries = le64(zip->bytes + at + 32);
    zip->directory_size = le64(zip->bytes + at + 40);
    zip->directory = le64(zip->bytes + at + 48);
    *end = at;
    return true;
}

static bool read_end(gr_zip *zip)
{
    int64_t end = find_end(zip);
    if (end < 0)
        return gr__archive_refuse(zip->ctx, zip->archive, "it has no end record; it is cut short or not a zip archive");
    const uint8_t *p = zip->bytes + end;
    if (le16(p + 4) != le16(p + 6) || (le16(p + 4) != 0 && le16(p + 4) != 0xffff))
        return gr__archive_refuse(zip->ctx, zip->archive, "it is one of several volumes");
    zip->entries = le16(p + 10);
    zip->directory_size = le32(p + 12);
    zip->directory = le32(p + 16);
    bool zip64 = zip->entries == 0xffff || zip->directory_size == 0xffffffff || zip->directory == 0xffffffff;
    if (zip64 && !read_end64(zip, &end))
        return false;
    if (!lies_within(zip->directory, zip->directory_size, end))
        return gr__archive_refuse(zip->ctx, zip->archive,
                                  "its directory lies outside the file; it is damaged or cut short");
    if (zip->entries < 0 || zip->entries > zip->directory_size / ENTRY_SIZE)
        return gr__archive_refuse(zip->ctx, zip->archive, "its directory is too small for the files it counts");
    if (zip->entries > GR__ARCHIVE_MEMBERS)
        return gr__archive_refuse(zip->ctx, zip->archive, "it holds more than %d files", GR__ARCHIVE_MEMBERS);
    return true;
}

/*
 * Takes the sizes and the offset that do not fit 32 bits from the extra field of zip64, where they stand in this order.
 */
static bool read_extra64(const uint8_t *extra, int64_t length, gr_member *member, int64_t *local)
{
    int64_t *values[] = {&member->size, &member->packed, local};
    for (int64_t n; length >= 4; extra += n, length -= n) {
        n = 4 + le16(extra + 2);
        if (n > length)
            return false;
        if (le16(extra) != 1)
            continue;
        int64_t at = 4;
        for (int i = 0; i < 3; i++) {
            if (*values[i] != 0xffffffff)
                continue;
            if (at + 8 > n)
                return false;
            *values[i] = le64(extra + at);
            at += 8;
        }
        return member->size >= 0 && member->packed >= 0 && *local >= 0;
    }
    return length == 0;
}

/*
 * The local header must say what the directory says. Sets where the data begin, and the span from header to their end.
 */
static bool check_local(const gr_zip *zip, const uint8_t *entry, int64_t local, gr_member *member, int64_t span[2])
{
    int64_t name = le16(entry + 28);
    const char *text = (const char *)entry + ENTRY_SIZE;
    if (!lies_within(local, LOCAL_SIZE, zip->directory) || memcmp(zip->bytes + local, "PK\3\4", 4) != 0)
        return gr__archive_refuse(zip->ctx, zip->archive, "%.*s is not where its directory says", (int)name, text);
    const uint8_t *p = zip->bytes + local;
    int64_t head = LOCAL_SIZE + le16(p + 26) + le16(p + 28);
    member->at = local + head;
    if (!lies_within(local, head, zip->directory) || !lies_within(member->at, member->packed, zip->directory))
        return gr__archive_refuse(zip->ctx, zip->archive, "%.*s lies partly outside the files' part of it", (int)name,
                                  text);
    if (le16(p + 26) != name || memcmp(p + LOCAL_SIZE, text, (size_t)name) != 0)
        return gr__archive_refuse(zip->ctx, zip->archive, "%.*s has another name in front of its data", (int)name,
                                  text);
    if (le16(p + 8) != le16(entry + 10))
        return gr__archive_refuse(zip->ctx, zip->archive, "%.*s is packed in two ways at once", (int)name, text);
    span[0] = local;
    span[1] = member->at + member->packed;
    return true;
}

/* Names are printed from here on, so what cannot be printed goes first. */
static bool is_printable(const char *name, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127)
            return false;
    return true;
}

/* Takes over the entry of the directory at offset at; *next is behind it. */
static bool read_entry(gr_zip *zip, int64_t i, int64_t at, int64_t *next)
{
    gr_context *ctx = zip->ctx;
    int64_t end = zip->directory + zip->directory_size;
    const uint8_t *p = zip->bytes + at;
    if (!lies_within(at, ENTRY_SIZE, end) || memcmp(p, "PK\1\2", 4) != 0)
        return gr__archive_refuse(ctx, zip->archive, "its directory is damaged at file %lld", (long long)i + 1);
    int64_t name = le16(p + 28), extra = le16(p + 30), local = le32(p + 42);
    *next = at + ENTRY_SIZE + name + extra + le16(p + 32);
    if (*next > end)
        return gr__archive_refuse(ctx, zip->archive, "its directory is damaged at file %lld", (long long)i + 1);
    const char *text = (const char *)p + ENTRY_SIZE;
    gr_member member = {.packed = le32(p + 20), .size = le32(p + 24), .crc = le32(p + 16), .has_crc = true};
    if (!is_printable(text, name))
        return gr__archive_add(ctx, zip->archive, text, name, member); /* which refuses it */
    if (!read_extra64((const uint8_t *)text + name, extra, &member, &local))
        return gr__archive_refuse(ctx, zip->archive, "the extra field of %.*s is damaged", (int)name, text);
    uint32_t method = le16(p + 10), mode = le32(p + 38) >> 16 & S_IFMT;
    if (p[5] == UNIX && mode && mode != S_IFREG && mode != S_IFDIR)
        return gr__archive_refuse(ctx, zip->archive, "%.*s is %s", (int)name, text,
                                  mode == S_IFLNK ? "a link; pack what it leads to, with zip without -y"
                                                  : "neither a file nor a folder");
    if (le16(p + 8) & ENCRYPTED)
        return gr__archive_refuse(ctx, zip->archive, "%.*s is encrypted", (int)name, text);
    if (method != STORED && method != DEFLATED)
        return gr__archive_refuse(ctx, zip->archive, "%.*s is packed by method %u; stored and deflated files are read",
                                  (int)name, text, method);
    if (method == STORED && member.packed != member.size)
        return gr__archive_refuse(ctx, zip->archive, "%.*s is stored and has two sizes", (int)name, text);
    member.deflated = method == DEFLATED;
    return check_local(zip, p, local, &member, zip->spans[i]) && gr__archive_add(ctx, zip->archive, text, name, member);
}

static int by_start(const void *a, const void *b)
{
    const int64_t *s = a, *t = b;
    return s[0] < t[0] ? -1 : s[0] > t[0];
}

/* Members that share bytes unpack to far more than the file holds, each within its ratio. */
static bool check_overlaps(const gr_zip *zip)
{
    qsort(zip->spans, (size_t)zip->entries, sizeof *zip->spans, by_start);
    for (int64_t i = 1; i < zip->entries; i++)
        if (zip->spans[i][0] < zip->spans[i - 1][1])
            return gr__archive_refuse(zip->ctx, zip->archive, "two of its files lie over each other at byte %lld",
                                      (long long)zip->spans[i][0]);
    return true;
}

bool gr__zip_index(gr_context *ctx, gr_archive *archive)
{
    gr_zip zip = {.ctx = ctx, .archive = archive, .bytes = archive->bytes, .size = archive->size};
    if (!read_end(&zip))
        return false;
    zip.spans = gr__calloc(ctx, (size_t)zip.entries + 1, sizeof *zip.spans);
    bool good = zip.spans;
    int64_t at = zip.directory;
    for (int64_t i = 0; good && i < zip.entries; i++)
        good = read_entry(&zip, i, at, &at);
    if (good && at != zip.directory + zip.directory_size)
        good = gr__archive_refuse(ctx, archive, "its directory holds more than the files it counts");
    good = good && check_overlaps(&zip);
    free(zip.spans);
    return good;
}
