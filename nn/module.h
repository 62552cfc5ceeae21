/*
 * module.h - what a module is inside: a class with two functions, and the parameters it declares when it is built.
 */
#ifndef GRADUS_MODULE_H
#define GRADUS_MODULE_H

#include "core/context.h"
#include "core/slab.h"
#include "kernels/ops/kernels.h"
#include "nn/nn.h"

/* Shape of one sample on its way through a model. */
typedef struct {
    int ndim; /* 1 (features) or 3 (H, W, C) */
    int64_t dim[3];
    int64_t flat[3]; /* H, W, C before a flatten made it one row; 0 where there was none */
} gr_features;

/* What a parameter is for: decides its place on disk. */
typedef enum { GR__FILTERS, GR__DENSE_WEIGHT, GR__VECTOR, GR__PLAIN } gr_parameter_role;

/* A parameter as its layer declares it. */
typedef struct {
    char name[96];
    gr_parameter_role role;
    int ndim;
    int64_t shape[GR_MAX_DIMS]; /* in memory: KRSC, [in, out] or [n] */
    int64_t flat[3];            /* of a dense weight: H, W, C of the image its rows came from, or 0 */
    gr_init init;
    int64_t fan_in, fan_out;
    double l2;         /* of the penalty on it, 0: none */
    gr_tensor **place; /* where the layer wants to find it */
    gr_tensor **next;  /* of a running statistic: where it wants to find the next value */
} gr_parameter_plan;

/* All parameters of a built model; or its running statistics, which no optimizer touches. */
typedef struct gr_parameters {
    int n, capacity;
    gr_parameter_plan *plans;
    gr_slab *slab;
    gr_features input;                /* of parameters: what the model was built for */
    struct gr_parameters *statistics; /* of parameters: the running statistics */
    gr_slab *next;                    /* of statistics: their values after the update under way, */
    bool pending;                     /* which a forward pass has begun */
    bool frozen;                      /* of statistics: forward passes leave them alone */
    int64_t updates;                  /* of statistics: updates of the model that have begun, */
    int64_t begun_in;                 /* and the one whose next values have; -1: none */
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
    char name[96]; /* "conv1+relu1+pool1" */
} gr_stage;

/* What a layer of a program's own has. */
typedef struct {
    gr_module_options options;
    char kind[16];
    int n; /* variables declared */
    gr_tensor *variables[GR_MAX_VARIABLES];
    gr_parameters *list; /* where they are declared; NULL but in build */
    gr_features output;  /* of one sample, as build announced it */
} gr_own_layer;

/* Where a layer stands in the text that its model was read from. */
typedef struct {
    const char *file; /* NULL: in none */
    int line, column;
} gr_origin;

struct gr_module {
    gr_context *ctx;
    const gr_module_class *class;
    char given[24]; /* its own name, by gr_named; "" without one */
    char name[64];  /* with those of the modules around it: "layer1.0.conv1" */
    union {
        gr_conv2d_options conv;
        gr_dense_options dense;
        gr_batch_norm_options batch_norm;
        gr_max_pool2d_args pool;
        double rate; /* of dropout; the factor of a scale */
        gr_own_layer own;
    };
    gr_tensor *weight, *bias;    /* of conv, dense and batch norm; bias NULL without one */
    gr_statistics running, next; /* of batch norm */
    gr_parameters *statistics;   /* of batch norm: those of the whole model */

    gr_origin origin;
    const char *text; /* of a model that was read from one: the whole; the context's */
    int classes;      /* that its answer must tell apart */

    bool placed;          /* stands in another module */
    gr_module **children; /* of a sequential; body and shortcut (or NULL) of a residual block */
    int n_children;
    bool numbered; /* a sequential within another: its layers are called 0, 1, ... */
    gr_stage *stages;
    int n_stages;

    gr_parameters *parameters; /* of a built root */
};

/* A new module, owned by ctx. NULL: recorded. */
gr_module *gr__module_new(gr_context *ctx, const gr_module_class *class);

/* Names m as a part of parent: its given name or else the one proposed, behind parent's. */
void gr__name_module(gr_module *m, const gr_module *parent, const char *proposed);

/* First part of a module's name: "conv". */
const char *gr__kind(const gr_module *m);

/* Notes that m is a part of a module made by the function named. False, recorded: it is one of another already. */
bool gr__place(gr_module *m, const char *function);

/* The last part of a module's name. */
const char *gr__own_name(const gr_module *m);

/* Makes m a root, with lists of parameters and statistics that are empty. False: recorded. */
bool gr__parameters_new(gr_module *m);

/* Builds net for batches like x, unless it is built. False: recorded. */
bool gr__build_for(gr_module *net, const gr_tensor *x);

/* gr_forward of a model that is built. */
gr_tensor *gr__forward(gr_module *net, gr_tensor *x);

/* Memory for the declared parameters; NULL: recorded. */
gr_slab *gr__lay_out(gr_context *ctx, const gr_parameters *list);

/* Adds a parameter "NAME.what" to the list. False: recorded. */
bool gr__declare(gr_module *m, gr_parameters *list, const char *what, const gr_parameter_plan *plan);

extern const gr_module_class gr__conv2d_class, gr__max_pool2d_class, gr__dense_class, gr__dropout_class,
    gr__flatten_class, gr__scale_class, gr__batch_norm_class, gr__global_avg_pool_class, gr__sequential_class,
    gr__residual_class, gr__own_class, gr__variables_class;

/* gr__relu_class, gr__sigmoid_class, ...: of each GR_UNARY in ops.def. */
#define GR_OP(...)
#define GR_UNARY(name, ...) extern const gr_module_class gr__##name##_class;
#include "kernels/ops/ops.def"

/* Batch normalisation of x, then + residual (or NULL), then ReLU if asked. */
gr_tensor *gr__batch_norm_run(gr_module *m, gr_tensor *x, gr_tensor *residual, bool relu);

/* Stages first .. last-1 of a sequential. */
gr_tensor *gr__run_stages(gr_module *m, gr_tensor *x, int first, int last);

/*
 * Without a tape nothing will ask for x again once y is there, so its storage is free for the next operation. input,
 * the tensor that a module was called with, is its caller's.
 */
void gr__let_go(gr_tensor *x, gr_tensor *y, const gr_tensor *input);

/* Window of a convolution layer as the operation wants it. */
gr_window gr__conv2d_window(const gr_conv2d_options *o);

/* The operations' own rule for the place of a window, over one sample. */
gr_geometry gr__sample_geometry(const gr_features *f, int64_t r, int64_t s, const gr_window *window,
                                bool stride_is_size);

/* gr_sequential of n layers. NULL: recorded. */
gr_module *gr__sequential_of(gr_context *ctx, int n, gr_module *const *layers);

/* Puts before an error that the building of m has met where m stands in its model's text. Always false. */
bool gr__blame(const gr_module *m);

/* Whether a model that was read from a text answers by a number for each class. False: recorded. */
bool gr__check_answer(const gr_module *m, const gr_features *answer);

/* Groups a sequential's layers into stages. False: recorded. */
bool gr__make_stages(gr_module *sequential);

/* Draws parameter number index of the model (Philox stream of its own). False: recorded. */
bool gr__initialise(gr_context *ctx, const gr_parameter_plan *plan, int index, gr_tensor *value);

/* How files have parameters: PyTorch's (and Gradus' own), Keras'. */
typedef enum { GR__AS_TORCH, GR__AS_KERAS } gr_disk_order;

/*
 * Shape of a parameter on disk, and for each element of the disk order its place in memory:
 * memory index = gr__memory_index(plan, order, disk index).
 */
void gr__disk_shape(const gr_parameter_plan *plan, gr_disk_order order, int64_t shape[GR_MAX_DIMS]);
int64_t gr__memory_index(const gr_parameter_plan *plan, gr_disk_order order, int64_t disk);

/*
 * Sets marks[i] of the parameters that one of the patterns matches, as gr_module_freeze has them; in the name of what.
 * False, recorded: not built, or a pattern without a match.
 */
bool gr__mark_parameters(const gr_module *net, const char *what, const char *patterns, bool *marks);

/* The last dense layer of a model, which gives its answer. NULL: it has none. */
gr_module *gr__head(gr_module *net);

#endif
