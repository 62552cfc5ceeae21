/* image_report.c - what became of the files of an image folder, and whether it will do. */
#include <stdio.h>

#include "data/formats/image_reader.h"

/*
 * CLASS/NAME of a line of the manifest: control characters and backslashes as \xNN, so that no name looks like two
 * lines, nor like another's way to be written. Returns its length.
 */
static int put_name(char *to, const char *name)
{
    int n = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        if (*c < ' ' || *c == 127 || *c == '\\')
            n += sprintf(to + n, "\\x%02x", *c);
        else
            to[n++] = (char)*c;
    return n;
}

void gr__reader_report(gr_reader *r)
{
    gr_sha256 sha;
    gr__sha256_begin(&sha);
    for (int c = 0; c < r->files.listing.n; c++)
        for (int64_t i = 0; i < r->classes[c].tried; i++) {
            const gr_tried *tried = &r->classes[c].files[i];
            char file[GR__FILE_NAME_SIZE], line[4 * GR__FILE_NAME_SIZE + 32];
            snprintf(file, sizeof file, "%s/%s", r->files.listing.classes[c].name, gr__reader_file(r, c, i));
            if (tried->fault) {
                if (r->options->skipped && r->options->filter != GR_FILTER_NONE) /* which leaves nothing out */
                    r->options->skipped(r->options->user, file, tried->fault);
                continue;
            }
            int length = put_name(line, file);
            length += sprintf(line + length, " %lld %08x\n", (long long)tried->size, tried->crc);
            gr__sha256_add(&sha, line, (size_t)length);
            if (r->options->taken)
                r->options->taken(r->options->user, line);
            if (r->options->turned && tried->turned)
                r->options->turned(r->options->user, file);
        }
    gr__sha256_end(&sha, r->images->manifest);
}

/* The first file that could not be decoded, filtered ones aside: its name and why. */
static void first_bad(const gr_reader *r, char *text, size_t size)
{
    text[0] = '\0';
    for (int c = 0; c < r->files.listing.n && !text[0]; c++)
        for (int64_t i = 0; i < r->classes[c].tried && !text[0]; i++) {
            const gr_tried *tried = &r->classes[c].files[i];
            if (tried->fault && !tried->filtered)
                snprintf(text, size, "%s/%s: %s", r->files.listing.classes[c].name, gr__reader_file(r, c, i),
                         tried->fault);
        }
}

bool gr__reader_check(const gr_reader *r)
{
    char first[GR__FILE_NAME_SIZE + GR__REASON_SIZE];
    double allowed = r->options->allow_bad > 0 ? r->options->allow_bad : 0.01;
    int64_t tried = 0, bad = r->images->skipped - r->filtered;
    for (int c = 0; c < r->files.listing.n; c++)
        tried += r->classes[c].tried;
    first_bad(r, first, sizeof first);
    if (bad && r->options->filter == GR_FILTER_NONE)
        return gr__fail(
            r->ctx, GR_BAD_DATA,
            "%lld of %lld image files in %s cannot be decoded, and the filter none takes all; the first is %s; "
            "the filter decodable leaves them out",
            (long long)bad, (long long)tried, r->files.root, first);
    if ((double)bad > allowed * (double)tried)
        return gr__fail(
            r->ctx, GR_BAD_DATA,
            "%lld of %lld image files in %s cannot be decoded (%.1f %%, allowed are %g %%), the first is %s; "
            "mend or remove them, or allow more",
            (long long)bad, (long long)tried, r->files.root, 100 * (double)bad / (double)tried, 100 * allowed, first);
    for (int c = 0; c < r->files.listing.n; c++)
        if (r->classes[c].good == 0)
            return gr__fail(r->ctx, GR_BAD_DATA, "no image in %s/%s can be %s; add good ones or remove the folder",
                            r->files.root, r->files.listing.classes[c].name,
                            r->filtered ? "decoded and passes the filter" : "decoded");
    return true;
}
