/*
 * module.h - what a module is inside: a class with two functions, and the parameters it declares when it is built.
 */
#ifndef GRADUS_MODULE_H
#define GRADUS_MODULE_H

#include "core/context.h"
#include "core/slab.h"
#include "kernels/kernels.h"
#include "nn/nn.h"

/* Shape of one sample on its way through a model. */
typedef struct {
    int ndim;        /* 1 (features) or 3 (H, W, C) */
    int64_t dim[3];
    int64_t flat[3]; /* H, W, C before a flatten made it one row; 0 where there was none */
} gr_features;

/* What a parameter is for: decides its place on disk. */
typedef enum { GR__FILTERS, GR__DENSE_WEIGHT, GR__VECTOR } gr_parameter_role;

/* A parameter as its layer declares it. */
typedef struct {
    char name[96];
    gr_parameter_role role;
    int ndim;
    int64_t shape[GR_MAX_DIMS]; /* in memory: KRSC, [in, out] or [n] */
    int64_t flat[3];            /* of a dense weight: H, W, C of the image its rows came from, or 0 */
    gr_init init;
    int64_t fan_in, fan_out;
    gr_tensor **place; /* where the layer wants to find it */
} gr_parameter_plan;

/* All parameters of a built model. */
typedef struct {
    int n, capacity;
    gr_parameter_plan *plans;
    gr_slab *slab;
    gr_features input; /* what the model was built for */
} gr_parameters;

typedef struct {
    const char *kind; /* first part of its name: "conv" */
    /* Checks the input's shape, turns it into the output's and declares parameters. False: recorded. */
    bool (*build)(gr_module *m, gr_features *shape, gr_parameters *parameters);
    gr_tensor *(*forward)(gr_module *m, gr_tensor *x);
} gr_module_class;

/* One operation of a sequential: up to three layers in one, see fusion.c. */
typedef struct {
    gr_tensor *(*run)(gr_module *const *layers, gr_tensor *x);
    gr_module *layers[3];
    char name[64]; /* "conv1+relu1+pool1" */
} gr_stage;

struct gr_module {
    gr_context *ctx;
    const gr_module_class *class;
    char name[32];
    union {
        gr_conv2d_options conv;
        gr_dense_options dense;
        int pool_size;
    };
    gr_tensor *weight, *bias; /* of conv and dense; bias NULL without one */

    gr_module **children;     /* of a sequential */
    int n_children;
    gr_stage *stages;
    int n_stages;

    gr_parameters *parameters; /* of a built root */
};

/* A new module, owned by ctx. NULL: recorded. */
gr_module *gr__module_new(gr_context *ctx, const gr_module_class *class);

/* Adds a parameter "NAME.what" to the list. False: recorded. */
bool gr__declare(gr_module *m, gr_parameters *list, const char *what, const gr_parameter_plan *plan);

extern const gr_module_class gr__conv2d_class, gr__max_pool2d_class, gr__dense_class, gr__relu_class, gr__sigmoid_class,
    gr__flatten_class;

/* Window of a convolution layer and of a pooling layer as the operations want it. */
gr_window gr__conv2d_window(const gr_conv2d_options *o);
gr_max_pool2d_args gr__pool_args(const gr_module *m);

/* The operations' own rule for the place of a window, over one sample. */
gr_geometry gr__sample_geometry(const gr_features *f, int64_t r, int64_t s, const gr_window *window, bool stride_is_size);

/* Groups a sequential's layers into stages. False: recorded. */
bool gr__make_stages(gr_module *sequential);

/* Draws parameter number index of the model (Philox stream of its own). False: recorded. */
bool gr__initialise(gr_context *ctx, const gr_parameter_plan *plan, int index, gr_tensor *value);

/*
 * Shape of a parameter on disk, and for each element of the disk order its place in memory:
 * memory index = gr__memory_index(plan, disk index).
 */
void gr__disk_shape(const gr_parameter_plan *plan, int64_t shape[GR_MAX_DIMS]);
int64_t gr__memory_index(const gr_parameter_plan *plan, int64_t disk);

#endif
