/* archive_members.c - the rules for a member of an archive, of whichever format, before it is taken. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/formats/archive.h"

enum { MAX_NAME = 1023, MAX_MEMBER = 1 << 30 /* bytes of one file; images end at 64 MiB */ };

bool gr__archive_refuse(gr_context *ctx, const gr_archive *archive, const char *format, ...)
{
    char why[512];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return gr__fail(ctx, GR_BAD_DATA, "archive %s is refused: %s", archive->path, why);
}

/* Whether ".." is one of the folders that name leads through. */
static bool climbs(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        if (part[0] == '.' && part[1] == '.' && (part[2] == '/' || part[2] == '\0'))
            return true;
    }
    return false;
}

static bool has_control(const char *name, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 127)
            return true;
    return false;
}

/* The first rule against a name; NULL: none. */
static const char *name_fault(const char *name, int64_t length)
{
    if (has_control(name, length))
        return "a name with a control character in it";
    if (length == 0)
        return "a file without a name";
    if (length > MAX_NAME)
        return "a name of more than 1023 bytes";
    if (name[0] == '/' || (length > 1 && name[1] == ':'))
        return "an absolute name";
    if (memchr(name, '\\', (size_t)length))
        return "a backslash in a name";
    return NULL;
}

static bool has_room(gr_context *ctx, gr_archive *archive)
{
    if (archive->n < archive->room)
        return true;
    if (archive->n >= GR__ARCHIVE_MEMBERS)
        return gr__archive_refuse(ctx, archive, "it holds more than %d files", GR__ARCHIVE_MEMBERS);
    int64_t room = archive->room ? 2 * archive->room : 64;
    gr_member *grown = realloc(archive->members, (size_t)room * sizeof *grown);
    if (!grown)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the %lld names in %s", (long long)room,
                        archive->path);
    archive->members = grown;
    archive->room = room;
    return true;
}

static bool check_size(gr_context *ctx, gr_archive *archive, const char *name, const gr_member *member)
{
    if (member->size > MAX_MEMBER)
        return gr__archive_refuse(ctx, archive, "%s has %lld bytes; at most %d are read", name, (long long)member->size,
                                  MAX_MEMBER);
    if (member->size > GR__ARCHIVE_SMALL && member->size / GR__ARCHIVE_RATIO > member->packed)
        return gr__archive_refuse(ctx, archive, "%s would unpack from %lld bytes to %lld, more than %d times as many",
                                  name, (long long)member->packed, (long long)member->size, GR__ARCHIVE_RATIO);
    archive->total += member->size;
    if (archive->total > GR__ARCHIVE_BYTES)
        return gr__archive_refuse(ctx, archive, "its files have more than %lld bytes", (long long)GR__ARCHIVE_BYTES);
    return true;
}

/* By its name, where that can be printed; else by the files before it. */
static bool refuse_name(gr_context *ctx, const gr_archive *archive, const char *name, int64_t length, const char *fault)
{
    if (length == 0 || length > MAX_NAME || has_control(name, length))
        return gr__archive_refuse(ctx, archive, "it holds %s (its file number %lld)", fault, (long long)archive->n + 1);
    return gr__archive_refuse(ctx, archive, "it holds %s (%.*s); unpack it and give the folder that is meant", fault,
                              (int)length, name);
}

bool gr__archive_refuse_member(gr_context *ctx, const gr_archive *archive, const char *name, int64_t length,
                               const char *what)
{
    const char *fault = name_fault(name, length);
    return fault ? refuse_name(ctx, archive, name, length, fault)
                 : gr__archive_refuse(ctx, archive, "%.*s is %s", (int)length, name, what);
}

bool gr__archive_add(gr_context *ctx, gr_archive *archive, const char *name, int64_t length, gr_member member)
{
    const char *fault = name_fault(name, length);
    if (fault)
        return refuse_name(ctx, archive, name, length, fault);
    char text[MAX_NAME + 1];
    memcpy(text, name, (size_t)length);
    text[length] = '\0';
    if (climbs(text))
        return gr__archive_refuse(ctx, archive, "%s would lead out of its folder", text);
    const char *bare = text;
    while (bare[0] == '.' && bare[1] == '/')
        bare += 2;
    if (!*bare || bare[strlen(bare) - 1] == '/') /* a folder */
        return true;
    if (!has_room(ctx, archive) || !check_size(ctx, archive, bare, &member))
        return false;
    member.name = strdup(bare);
    if (!member.name)
        return gr__fail(ctx, GR_NO_MEMORY, "out of host memory for the names in %s", archive->path);
    archive->members[archive->n++] = member;
    return true;
}
