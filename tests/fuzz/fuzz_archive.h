/* fuzz_archive.h - what must hold of every archive that is accepted. */
#ifndef FUZZ_ARCHIVE_H
#define FUZZ_ARCHIVE_H

#include "data/formats/archive.h"
#include "data/formats/listing.h"
#include "fuzz.h"

/* Members lie inside, their names lead nowhere else, and each can be read or has a reason why not. */
static inline void check_archive(gr_context *ctx, const gr_archive *archive)
{
    for (int64_t i = 0; i < archive->n; i++) {
        const gr_member *member = &archive->members[i];
        const char *name = member->name, *reason = NULL;
        must(name[0] && name[0] != '/' && strncmp(name, "../", 3) != 0 && !strstr(name, "/../"));
        must(member->at >= 0 && member->packed >= 0 && member->at + member->packed <= archive->size);
        uint8_t *buffer;
        bool no_memory;
        const uint8_t *bytes = gr__archive_read(archive, member, &buffer, &reason, &no_memory);
        must(bytes || (reason && !buffer));
        unsigned sum = 0;
        for (int64_t k = 0; bytes && k < member->size; k++)
            sum += bytes[k];
        must(sum <= 255u * (uint64_t)member->size);
        free(buffer);
    }
    gr_listing listing;
    if (gr__list_archive(ctx, archive, &listing)) {
        must(listing.n >= 2);
        gr__listing_free(&listing);
    }
}

#endif
