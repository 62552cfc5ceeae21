/*
 * tape.h - the record of a forward pass, which backward walks from its end.
 *
 *   forward, left to right: an operation that runs appends a node        leaves: x has no gradient, w and b have
 *
 *              nodes[0]            nodes[1]            nodes[2]
 *   x ----->+----------+   y0   +----------+   y1   +----------+
 *   w ----->|  dense   |------->|   relu   |------->|   loss   |---> loss
 *   b ----->+----------+        +----------+        +----------+
 *                |                   |                   |
 *   dw, db <-----+<-------dy0--------+<-------dy1--------+<------- 1
 *
 *   backward, right to left: a node's kernel reads dy, writes or adds to (accumulate) the gradients of its inputs;
 *   then its result y and dy are released
 *
 * The order in which operations ran is a topological one, so there is no sort and no recursion. A node keeps its call,
 * that is pointers to inputs and to what the forward pass saved. Gradients of leaves persist: w->grad lies in the slab
 * of gradients. Those of activations are made when first written and are gone when read.
 */
#ifndef GRADUS_TAPE_H
#define GRADUS_TAPE_H

#include "core/op.h"

/* One recorded operation. Its call keeps inputs and saved outputs alive until backward has passed. */
typedef struct gr_node {
    const gr_op *op;
    gr_call call;
    const char *module; /* whose forward made it; "" outside modules */
    bool alias;         /* its output shares the storage of in[0] */
    unsigned claimed;   /* bit i: the gradient of in[i] is computed and used up by the hook of gr__backward */
    bool (*backward)(struct gr_node *node, gr_call *call); /* where its pass is more than the kernel's; else NULL */
    unsigned char args[GR_MAX_ARGS] __attribute__((aligned(16)));
} gr_node;

/*
 * Backward with nodes that the caller takes over. Where node->claimed is not 0, no buffer is made for the gradients of
 * those slots and run(user, node, call) must do the node's whole backward pass instead of its kernel. uses, unless it
 * is NULL, is told of each use of a parameter whose gradient is wanted: 1 of each before the pass, -1 when it has
 * passed.
 */
typedef struct {
    void *user;
    bool (*run)(void *user, gr_node *node, gr_call *call);
    void (*uses)(void *user, const gr_tensor *parameter, int change);
} gr_backward_hook;
bool gr__backward(gr_tensor *loss, const gr_backward_hook *hook); /* hook may be NULL */

/* t += s, of the same shape and type. False: recorded. */
bool gr__add_to(gr_tensor *t, gr_tensor *s);

/* The gradient of a leaf, made when it is not there. NULL: recorded. */
gr_tensor *gr__leaf_gradient(gr_tensor *leaf);

/* Appends a call that has run to the tape. False: recorded. */
bool gr__tape_append(gr_build *build, bool alias);

/* Forgets the tape. A micro-batch that has drawn random numbers is over with it, and the next one draws others. */
void gr__tape_drop(gr_context *ctx);

/* Tells the context that t is a leaf whose gradient gr_clear_gradients must mark empty. */
bool gr__add_leaf(gr_context *ctx, gr_tensor *t);

#endif
