/* network.h - what a recipe's network is made of and what its training costs, planned: for summary and draw. */
#ifndef GRADUS_SUMMARY_NETWORK_H
#define GRADUS_SUMMARY_NETWORK_H

#include <jansson.h>

#include "settings/resolved.h"

enum { MAX_LAYERS = 2048 };

typedef struct {
    int n;
    gr_summary_row rows[MAX_LAYERS], total;
    gr_memory memory; /* of training, planned */
} summary;

/* Which network, and how it is trained: of settings. */
extern const option network_options[];

/* Of a network that is not built yet, in a context that only plans. False: the context tells. */
bool summary_make(gr_context *ctx, const resolved *s, gr_module *net, summary *out);

/* All of it as an object. */
json_t *summary_json(const gr_context *ctx, const resolved *s, const summary *m);

#endif
