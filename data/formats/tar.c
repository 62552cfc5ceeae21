/* tar.c - a reader of tar archives over zlib. Format: POSIX.1-2017, pax, "ustar Interchange Format". */
#include "data/formats/tar.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    BLOCK = 512,
    MAX_TAIL = 1 << 20 /* bytes after the end mark: zeros that fill the last record */
};

/* Fields of a header: where each begins and how many bytes it has. */
enum {
    NAME = 0,
    NAME_SIZE = 100,
    SIZE = 124,
    SIZE_SIZE = 12,
    SUM = 148,
    SUM_SIZE = 8,
    TYPE = 156,
    MAGIC = 257,
    PREFIX = 345,
    PREFIX_SIZE = 155
};

struct gr_tar {
    gzFile file;
    int64_t left, padding; /* bytes of the current file not yet read, and what fills its last block */
    char fault[128];
    int error; /* errno where the fault is the system's, not the archive's */
};

gr_tar *gr__tar_open(const char *path)
{
    gr_tar *tar = calloc(1, sizeof *tar);
    if (!tar)
        return NULL;
    tar->file = gzopen(path, "rbe");
    if (tar->file) {
        gzbuffer(tar->file, 1 << 17);
        return tar;
    }
    int why = errno;
    free(tar);
    errno = why ? why : ENOMEM;
    return NULL;
}

void gr__tar_close(gr_tar *tar)
{
    if (tar)
        gzclose(tar->file);
    free(tar);
}

int gr__tar_error(const gr_tar *tar)
{
    return tar->error;
}

const char *gr__tar_fault(const gr_tar *tar)
{
    return tar->fault;
}

/* Keeps the first fault. Always returns false. */
static bool fail(gr_tar *tar, const char *why)
{
    if (!tar->fault[0])
        snprintf(tar->fault, sizeof tar->fault, "%s", why);
    return false;
}

/* Bytes got of the n asked for; fewer at the end of the file. -1: the compressed data is damaged or cut short. */
static int64_t get(gr_tar *tar, void *p, int64_t n)
{
    int64_t have = 0;
    while (have < n) {
        int64_t want = n - have < 1 << 30 ? n - have : 1 << 30;
        int got = gzread(tar->file, (char *)p + have, (unsigned)want);
        int code;
        const char *text = gzerror(tar->file, &code);
        if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
            tar->error = code == Z_MEM_ERROR ? ENOMEM : code == Z_ERRNO ? errno : 0;
            fail(tar, code == Z_BUF_ERROR ? "it is cut short" : tar->error ? strerror(tar->error) : text);
            return -1;
        }
        if (got == 0)
            break;
        have += got;
    }
    return have;
}

static bool read_exactly(gr_tar *tar, void *p, int64_t n)
{
    int64_t got = get(tar, p, n);
    return got == n || (got >= 0 && fail(tar, "it is cut short"));
}

static bool skip(gr_tar *tar, int64_t n)
{
    unsigned char waste[8 * BLOCK];
    for (int64_t part; n > 0; n -= part) {
        part = n < (int64_t)sizeof waste ? n : (int64_t)sizeof waste;
        if (!read_exactly(tar, waste, part))
            return false;
    }
    return true;
}

/* An octal field, blanks before and blanks or zero bytes behind. -1: it is none, as GNU's base-256 from 8 GiB on. */
static int64_t octal(const unsigned char *field, int size)
{
    int64_t value = 0;
    int i = 0, digits = 0;
    while (i < size && field[i] == ' ')
        i++;
    for (; i < size && field[i] >= '0' && field[i] <= '7'; i++, digits++)
        value = value * 8 + (field[i] - '0');
    while (i < size && (field[i] == ' ' || field[i] == '\0'))
        i++;
    return digits > 0 && i == size ? value : -1;
}

/* The sum of all bytes of a header, its own sum field counted as blanks. */
static bool sum_is_right(const unsigned char *header)
{
    int64_t sum = 0;
    for (int i = 0; i < BLOCK; i++)
        sum += i >= SUM && i < SUM + SUM_SIZE ? ' ' : header[i];
    return octal(header + SUM, SUM_SIZE) == sum;
}

static bool is_zero(const unsigned char *block)
{
    for (int i = 0; i < BLOCK; i++)
        if (block[i])
            return false;
    return true;
}

/* Reads on behind the first zero block to the end of the file, where gzip has its check sum. Returns what next does. */
static int finish(gr_tar *tar)
{
    unsigned char block[BLOCK];
    int64_t got;
    for (int64_t seen = 0; (got = get(tar, block, BLOCK)) > 0; seen += got) {
        if (got < BLOCK)
            memset(block + got, 0, (size_t)(BLOCK - got));
        if (seen > MAX_TAIL || !is_zero(block))
            return fail(tar, "there is something behind its end mark"), -1;
    }
    return got < 0 ? -1 : 0;
}

/* The name: a prefix in ustar's format, a slash, and the name itself; neither need end in a zero byte. */
static void read_name(const unsigned char *header, char name[GR__TAR_NAME])
{
    const char *text = (const char *)header;
    bool prefix = memcmp(text + MAGIC, "ustar\0", 6) == 0 && text[PREFIX];
    snprintf(name, GR__TAR_NAME, "%.*s%s%.*s", prefix ? PREFIX_SIZE : 0, text + PREFIX, prefix ? "/" : "", NAME_SIZE,
             text + NAME);
}

int gr__tar_step(gr_tar *tar, char name[GR__TAR_NAME], int64_t *size, char *type)
{
    unsigned char header[BLOCK];
    if (tar->fault[0] || !skip(tar, tar->left + tar->padding))
        return -1;
    tar->left = tar->padding = 0;
    if (!read_exactly(tar, header, BLOCK))
        return -1;
    if (is_zero(header))
        return finish(tar);
    if (!sum_is_right(header))
        return fail(tar, "it is not a tar archive, or damaged (a header's check sum is wrong)"), -1;
    *size = octal(header + SIZE, SIZE_SIZE);
    if (*size < 0)
        return fail(tar, "a file in it has no size that can be read"), -1;
    *type = header[TYPE] ? (char)header[TYPE] : '0';
    bool bodiless = *type >= '1' && *type <= '6'; /* links, devices, folders, pipes */
    tar->left = bodiless ? 0 : *size;
    tar->padding = (BLOCK - tar->left % BLOCK) % BLOCK;
    read_name(header, name);
    return 1;
}

int gr__tar_next(gr_tar *tar, char name[GR__TAR_NAME], int64_t *size)
{
    char type;
    int step;
    while ((step = gr__tar_step(tar, name, size, &type)) > 0 && type != '0')
        continue;
    return step;
}

bool gr__tar_read(gr_tar *tar, void *p, int64_t n)
{
    if (tar->fault[0] || n > tar->left)
        return fail(tar, "a file in it is shorter than it should be");
    if (!read_exactly(tar, p, n))
        return false;
    tar->left -= n;
    return true;
}

bool gr__tar_plain(const gr_tar *tar)
{
    return gzdirect(tar->file);
}

int64_t gr__tar_tell(const gr_tar *tar)
{
    return gztell(tar->file);
}
