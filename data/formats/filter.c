/* filter.c - see filter.h and gr_filter in data.h. */
#include "data/formats/filter.h"

#include <string.h>

enum { PEEK = 4096 };

/*
 * Keras' example image_classification_from_scratch drops a file unless b"JFIF" is in open(file, "rb").peek(10).
 * Python's peek takes 10 as a hint and returns its whole buffer, which is the file system's block: 4096 bytes on ext4,
 * xfs and overlay.
 */
static bool says_jfif(const uint8_t *bytes, int64_t size)
{
    return memmem(bytes, (size_t)(size < PEEK ? size : PEEK), "JFIF", 4) != NULL;
}

const char *gr__filter_fault(gr_filter filter, const uint8_t *bytes, int64_t size)
{
    if (filter == GR_FILTER_NONZERO && size == 0)
        return "filter nonzero: an empty file";
    if (filter == GR_FILTER_KERAS_JFIF && !says_jfif(bytes, size))
        return "filter keras-jfif: no JFIF in its first 4096 bytes";
    return NULL;
}

static const char *const names[] = {"decodable", "none", "nonzero", "keras-jfif"};

const char *gr_filter_name(gr_filter filter)
{
    return names[filter];
}

bool gr_filter_named(const char *name, gr_filter *filter)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0) {
            *filter = (gr_filter)i;
            return true;
        }
    return false;
}
