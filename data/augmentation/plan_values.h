/*
 * plan_values.h - what stands behind the = of a plan's words. Each moves *text behind what it has read; false: it is
 * something else.
 */
#ifndef GRADUS_PLAN_VALUES_H
#define GRADUS_PLAN_VALUES_H

#include "data/augmentation/augment.h"

bool gr__plan_real(const char **text, double *x);
bool gr__plan_side(const char **text, int64_t *side);    /* whole pixels, from 1 to GR__PLAN_SIDE */
bool gr__plan_sides(const char **text, int64_t size[2]); /* N or HxW */
bool gr__plan_place(const char *text, gr__step *step);   /* all of it: behind the @ of a crop */
bool gr__plan_offset(const char *text, int64_t at[2]);   /* all of it: whole pixels ROWS:COLUMNS, with signs */

/* All of it: which of names, that end with NULL; -1: none. */
int gr__plan_choice(const char *value, const char *const *names);

#endif
