/*
 * tar_index.c - where the members of a tar archive lie. Of a compressed one, what a reader wants in any order is held
 * in memory, after a first pass has found the archive whole and told how much that is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "data/formats/archive.h"
#include "data/formats/tar.h"

enum { MAX_HEADER = 1 << 16 /* bytes of a pax header */ };

static bool fail_tar(gr_context *ctx, const gr_archive *archive, const gr_tar *tar)
{
    const int error = gr__tar_error(tar);
    return error ? gr__fail(ctx, gr__io_code(error), "archive %s cannot be read: %s", archive->path, gr__tar_fault(tar))
                 : gr__archive_refuse(ctx, archive, "%s", gr__tar_fault(tar));
}

/*
 * A pax header, lines of "LENGTH KEY=VALUE\n", may say anything about the file behind it but another name, size or kind
 * than its own header says. NULL: it does not.
 */
static const char *pax_fault(const char *text, int64_t length)
{
    static const char *const changes[] = {"path=", "linkpath=", "size=", "GNU.sparse."};
    while (length > 0) {
        int64_t line = 0, at = 0;
        for (; at < length && text[at] >= '0' && text[at] <= '9' && line < MAX_HEADER; at++)
            line = line * 10 + (text[at] - '0');
        if (at >= length || text[at] != ' ' || line <= at || line > length || text[line - 1] != '\n')
            return "a pax header in it is damaged";
        for (int i = 0; i < 4; i++)
            if (line - at - 1 >= (int64_t)strlen(changes[i]) &&
                memcmp(text + at + 1, changes[i], strlen(changes[i])) == 0)
                return "a pax header in it gives a file another name, size or kind; pack it with tar --format=ustar";
        text += line;
        length -= line;
    }
    return NULL;
}

static bool check_pax(gr_context *ctx, const gr_archive *archive, gr_tar *tar, int64_t size)
{
    char text[MAX_HEADER];
    if (size > MAX_HEADER)
        return gr__archive_refuse(ctx, archive, "a pax header in it has %lld bytes", (long long)size);
    if (!gr__tar_read(tar, text, size))
        return fail_tar(ctx, archive, tar);
    const char *fault = pax_fault(text, size);
    return !fault || gr__archive_refuse(ctx, archive, "%s", fault);
}

/* A compressed archive must not unpack to very much more than it is; told before so much is unpacked. */
static bool check_ratio(gr_context *ctx, const gr_archive *archive, const gr_tar *tar, int64_t size)
{
    int64_t unpacked = gr__tar_tell(tar) + size;
    if (gr__tar_plain(tar) || unpacked <= GR__ARCHIVE_SMALL || unpacked / GR__ARCHIVE_RATIO <= archive->file_size)
        return true;
    return gr__archive_refuse(ctx, archive,
                              "it would unpack from %lld bytes to %lld or more, more than %d times as many",
                              (long long)archive->file_size, (long long)unpacked, GR__ARCHIVE_RATIO);
}

/* A member as its header has it. Offsets count in the plain archive, or in what is held of a compressed one. */
static bool take_member(gr_context *ctx, gr_archive *archive, gr_tar *tar, const char *name, int64_t size, char type)
{
    gr_member member = {.at = gr__tar_plain(tar) ? gr__tar_tell(tar) : archive->total, .packed = size, .size = size};
    bool folder = name[0] && name[strlen(name) - 1] == '/';
    if (!check_ratio(ctx, archive, tar, type == '5' ? 0 : size))
        return false;
    if (type == 'x' || type == 'g')
        return check_pax(ctx, archive, tar, size);
    if (type == 'L' || type == 'K')
        return gr__archive_refuse(ctx, archive,
                                  "a name in it has more than 100 bytes; pack it with tar --format=ustar");
    if (type == '5' || (type == '0' && !folder)) {
        char with_slash[GR__TAR_NAME + 1];
        memcpy(with_slash, name, strlen(name) + 1);
        if (type == '5' && !folder)
            strcat(with_slash, "/");
        return gr__archive_add(ctx, archive, with_slash, (int64_t)strlen(with_slash), member);
    }
    return gr__archive_refuse_member(ctx, archive, name, (int64_t)strlen(name),
                                     type == '1'   ? "a hard link; pack it with tar --hard-dereference"
                                     : type == '2' ? "a link; pack what it leads to, with tar --dereference"
                                                   : "neither a file nor a folder");
}

static bool first_pass(gr_context *ctx, gr_archive *archive, gr_tar *tar)
{
    char name[GR__TAR_NAME], type;
    int64_t size;
    int step;
    while ((step = gr__tar_step(tar, name, &size, &type)) > 0)
        if (!take_member(ctx, archive, tar, name, size, type))
            return false;
    return step == 0 || fail_tar(ctx, archive, tar);
}

/*
 * The members' bytes, one behind the other. The archive may have changed since the first pass, so sizes are compared.
 */
static bool second_pass(gr_context *ctx, gr_archive *archive, gr_tar *tar)
{
    char name[GR__TAR_NAME];
    int64_t size, i = 0;
    int next;
    archive->held = gr__host_alloc(ctx, archive->total, 1, "the files of a compressed tar archive, unpacked");
    if (!archive->held)
        return false;
    for (; (next = gr__tar_next(tar, name, &size)) > 0 && i < archive->n; i++) {
        if (size != archive->members[i].size)
            break;
        if (!gr__tar_read(tar, archive->held + archive->members[i].at, size))
            return fail_tar(ctx, archive, tar);
    }
    if (next < 0)
        return fail_tar(ctx, archive, tar);
    if (next > 0 || i < archive->n)
        return gr__archive_refuse(ctx, archive, "it has changed while it was read");
    archive->bytes = archive->held;
    archive->size = archive->total;
    return true;
}

bool gr__tar_index(gr_context *ctx, gr_archive *archive)
{
    bool plain = false, good = true;
    for (int pass = 0; pass < 2 && good && !plain; pass++) {
        gr_tar *tar = gr__tar_open(archive->path);
        if (!tar)
            return gr__fail(ctx, gr__io_code(errno), "archive %s cannot be opened: %s", archive->path, strerror(errno));
        good = (pass == 0 ? first_pass : second_pass)(ctx, archive, tar);
        plain = gr__tar_plain(tar);
        gr__tar_close(tar);
    }
    for (int64_t i = 0; good && i < archive->n; i++)
        if (archive->members[i].at + archive->members[i].size > archive->size)
            return gr__archive_refuse(ctx, archive, "it has changed while it was read");
    return good;
}
