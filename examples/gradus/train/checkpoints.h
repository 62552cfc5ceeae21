/* checkpoints.h - --checkpoint: where a run is kept, what it is known by there, and going on with --resume. */
#ifndef GRADUS_TOOL_CHECKPOINTS_H
#define GRADUS_TOOL_CHECKPOINTS_H

#include <jansson.h>

#include "settings/resolved.h"
#include "sources/source.h"

typedef struct {
    gr_checkpoints options; /* for gr_fit */
    json_t *identity;       /* what the run is known by: an object of texts */
    gr_setting *settings;   /* the same, as gr_fit takes it */
} checkpoints;

/* Refuses options that do not go together. Returns 0 or GR_USAGE, complained of. */
int checkpoints_check(const settings *s, const char *command);

/*
 * Fills in of what and, if they are asked for, where and how often; the rest of the options is the caller's. Returns 0
 * or an exit code, complained of; checkpoints_close is due all the same.
 */
int checkpoints_open(checkpoints *c, const resolved *s, const source *data, const gr_module *net, const char *command);
void checkpoints_close(checkpoints *c);

#endif
