/*
 * front.h - a row through the public face of its operation.
 */
#ifndef GRADUS_TABLE_FRONT_H
#define GRADUS_TABLE_FRONT_H

#include "tests/table/row.h"

/* What a front made of a row: args completed, shapes of all slots. Tensors have shapes and types but no memory. */
typedef struct {
    gr_call call;
    gr_tensor in[GR_MAX_IN], out[GR_MAX_OUT];
    _Alignas(16) unsigned char args[GR_MAX_ARGS];
} row_call;

/* Calls the row's front on in[]; db is the buffer for dense_sgd and dense_adam. Returns the result, NULL on failure. */
gr_tensor *front_call(const row *r, gr_tensor *const *in, gr_tensor *db);

/*
 * Makes the row's inputs in ctx and fills them with its draws: variables where the slot has a gradient. False: ctx
 * tells.
 */
bool front_inputs(gr_context *ctx, const row *r, gr_tensor **in);

/* The buffer that db of dense_sgd and dense_adam goes to; NULL where the row wants none. */
gr_tensor *front_db(gr_context *ctx, const row *r);

/* Values of a whole real, u8 or i32 tensor of a context as doubles, for the caller to free. */
double *front_values(const gr_tensor *t);

/* Sets a tensor of a context from doubles. */
bool front_fill(gr_tensor *t, const double *values);

/* Sets the step state of ctx to the row's. */
bool front_state(gr_context *ctx, const row *r);

/* Runs the front on a device whose kernels only take notes. False: *why (static storage) tells. */
bool front_capture(const row *r, row_call *captured, const char **why);

#endif
