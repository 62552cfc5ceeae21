/* filter.h - which files of a folder of images are taken, by a rule with a name. */
#ifndef GRADUS_FILTER_H
#define GRADUS_FILTER_H

#include <stdint.h>

#include "data/data.h"

/* Why the filter leaves out a file of these bytes, before anybody tries to decode it. NULL: it does not. */
const char *gr__filter_fault(gr_filter filter, const uint8_t *bytes, int64_t size);

#endif
