/* test_part.h - the test part as a run is asked to look at it: in several views (--tta). */
#ifndef GRADUS_TEST_PART_H
#define GRADUS_TEST_PART_H

#include "sources/source.h"
#include "train/row.h"

/* Whether the test part is there as the run wants it. Returns 0 or GR_USAGE, complained of. */
int test_part_check(const resolved *s, const source *data, const char *command);

/* Asks the trained network about all views, into r->tta. Returns 0, GR_STOPPED or an exit code, complained of. */
int test_part_views(gr_module *net, gr_context *ctx, const resolved *s, const source *data, result *r,
                    const char *command);

#endif
