/*
 * nn.h - the public face of nn/: layers, models, their parameters and their files.
 *
 * A module is made with the context and freed with it. It learns its input's shape at gr_module_build or at the first
 * gr_forward; then its parameters are laid out in one slab and drawn from (seed, parameter), the same on every device.
 */
#ifndef GRADUS_NN_H
#define GRADUS_NN_H

#include "kernels/ops/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gr_module gr_module;

/*
 * Uniform in [-limit, limit]. fan_in: inputs of one output (R*S*C for filters); fan_out: R*S*K for filters, units for
 * dense.
 */
typedef enum {
    GR_GLOROT_UNIFORM = 0, /* sqrt(6 / (fan_in + fan_out)), Glorot and Bengio 2010; Keras' default */
    GR_HE_UNIFORM,         /* sqrt(6 / fan_in), He et al. 2015 */
    GR_KAIMING_UNIFORM,    /* 1 / sqrt(fan_in), weights and biases: what PyTorch's layers do (a = sqrt 5) */
    GR_KAIMING_NORMAL,     /* normal, deviation sqrt(2 / fan_out), He et al. 2015: torchvision's ResNets */
    GR_ZEROS,
    GR_ONES,
    /*
     * Of filters alone: the first C of them hand on a channel each as it is, a 1 in the middle of the window (that of
     * PyTorch's dirac_: R / 2, S / 2); the others are KAIMING_UNIFORM, biases 0. Layers begin as if they were skipped.
     */
    GR_DIRAC
} gr_init;

typedef struct {
    int filters;        /* K, at least 1 */
    int kernel;         /* R = S, at least 1 */
    int kernel_size[2]; /* R, S where they differ; zero: kernel */
    int stride;         /* 0: 1 */
    gr_padding padding;
    int pad[4]; /* top, bottom, left, right, with GR_EXPLICIT */
    bool no_bias;
    gr_init init; /* of the filters; biases are zero, but for GR_KAIMING_UNIFORM */
} gr_conv2d_options;

typedef struct {
    int units; /* outputs, at least 1 */
    bool no_bias;
    gr_init init;
    double l2; /* gr_add_penalty adds l2 * the sum of the weights' squares to the loss; 0: nothing */
} gr_dense_options;

typedef struct {
    double epsilon;  /* 0: 1e-5 */
    double momentum; /* weight of a batch in the running statistics; 0: 0.1, PyTorch's; GR_ZERO: 0 */
} gr_batch_norm_options;

/* Layers. Each returns NULL with a sticky error on a bad option. */
gr_module *gr_conv2d_layer(gr_context *ctx, const gr_conv2d_options *options);
gr_module *gr_max_pool2d_layer(gr_context *ctx, int size); /* size x size windows, stride size, no padding */
gr_module *gr_max_pool2d_window_layer(gr_context *ctx, const gr_max_pool2d_args *args);
gr_module *gr_global_avg_pool_layer(gr_context *ctx); /* images to one mean per channel */
gr_module *gr_dense_layer(gr_context *ctx, const gr_dense_options *options);

/*
 * Batch normalisation. While the tape is on it normalises by the batch's statistics and moves running_mean and
 * running_var, which become those of the model at the optimizer's step; while it is off (evaluation) by the running
 * ones. options or NULL.
 */
gr_module *gr_batch_norm_layer(gr_context *ctx, const gr_batch_norm_options *options);
gr_module *gr_relu_layer(gr_context *ctx);
gr_module *gr_sigmoid_layer(gr_context *ctx);
gr_module *gr_tanh_layer(gr_context *ctx);
gr_module *gr_exp_layer(gr_context *ctx);
gr_module *gr_gelu_layer(gr_context *ctx); /* exact, by erf */
gr_module *gr_silu_layer(gr_context *ctx);

/*
 * Dropout of a share rate, 0 to below 1, of the elements while the tape is on; nothing at all while it is off
 * (evaluation).
 */
gr_module *gr_dropout_layer(gr_context *ctx, double rate);

gr_module *gr_flatten_layer(gr_context *ctx);

/* factor times its input, a number above 0: logits of another temperature, before a softmax. */
gr_module *gr_scale_layer(gr_context *ctx, double factor);

/*
 * Runs the given layers one after the other; the list ends with NULL. When it is built it fuses what it can
 * (convolution + ReLU + max-pool, convolution + ReLU, dense + ReLU) unless gr_options.no_fusion. Parameters are named
 * by layer kind and count: conv1.weight, conv1.bias, dense1.weight, ...
 */
gr_module *gr_sequential(gr_context *ctx, ...);

/*
 * A residual block (He et al. 2016): max(0, body(x) + shortcut(x)); shortcut NULL: x itself. body is a sequential;
 * where it ends in batch normalisation, that, the addition and the ReLU run as one operation.
 */
gr_module *gr_residual(gr_context *ctx, gr_module *body, gr_module *shortcut);

/* --- layers of a program's own ------------------------------------------------------------------------------------ */

enum { GR_MAX_VARIABLES = 8 }; /* that one layer of a program's own may declare */

/* Shape of one sample. */
typedef struct {
    int ndim; /* 1 (features) to 3 (H, W, C) */
    int64_t dim[3];
} gr_sample_shape;

/* A parameter of a layer of a program's own. On disk it lies as in memory. */
typedef struct {
    const char *name; /* "weight": 1 to 31 characters, no dot. Copied */
    int ndim;
    int64_t shape[GR_MAX_DIMS];
    gr_init init;
    int64_t fan_in, fan_out; /* for init; 0: of [in,out] in and out, of [K,R,S,C] R*S*C and R*S*K, of [n] 1 and n */
    double l2;               /* as in gr_dense_options */
} gr_variable_options;

typedef struct {
    const char *kind; /* first part of its name: "scale" gives scale1, scale2, ...; 1 to 15 characters. Copied */
    /*
     * Is told the shape of a sample of the layer's input, writes that of its output in its place and declares the
     * layer's variables by gr_module_declare. False: the model cannot be built. NULL: the shape stays, no variables.
     */
    bool (*build)(gr_module *m, gr_sample_shape *shape);
    /* The layer's answer y[N, ...] to x[N, ...], made by operations. NULL, with gr_module_fail: it cannot be made. */
    gr_tensor *(*forward)(gr_module *m, gr_tensor *x);
    void *user; /* for gr_module_user: the caller's, to live as long as the model is used */
} gr_module_options;

/* A layer of a program's own, for gr_sequential or by itself. examples/custom_layer.c is one. */
gr_module *gr_module_new(gr_context *ctx, const gr_module_options *options);

/* In build: declares the layer's next variable, number 0, 1, ... False: recorded. */
bool gr_module_declare(gr_module *m, const gr_variable_options *variable);

/* In forward: variable number i, which belongs to the model. NULL: recorded. */
gr_tensor *gr_module_variable(const gr_module *m, int i);
void *gr_module_user(const gr_module *m);

/* In build and forward: records a usage error "NAME: message". Always false. */
bool gr_module_fail(gr_module *m, const char *message);

/*
 * A model made of variables (gr_variable) alone: an optimizer can train them, gr_save_weights writes them. Their values
 * and handles stay, gradients they had are gone. names, or NULL: "variable1", ... To be called between steps: before
 * the first operation or after gr_step_end. It has no gr_forward.
 */
gr_module *gr_variables(gr_context *ctx, int n, gr_tensor *const *variables, const char *const *names);

/* Gives a part of a model a name of its own ("fc", "layer1") in place of kind and count; returns it. */
gr_module *gr_named(gr_module *m, const char *name);

/*
 * A model from its text, a line a layer ("conv 32 3x3 relu", "pool 2", "dense classes"; docs/models.md): a sequential,
 * whose parameters are named and drawn as if it had been made by the functions above. name stands before line and
 * column in messages; classes, at least 1, is what the word means. gr_module_build finds out whether the layers fit
 * each other and the answer all classes. NULL: recorded, bad data in the text as GR_BAD_DATA.
 */
gr_module *gr_model_from_text(gr_context *ctx, const char *name, const char *text, int classes);
gr_module *gr_model_from_file(gr_context *ctx, const char *path, int classes);

/* The text that a model was made of, the context's; NULL: it was made of none. */
const char *gr_model_text(const gr_module *net);

/* Lays the parameters out for inputs of the given shape (without the batch dimension) and draws them. */
bool gr_module_build(gr_module *net, int ndim, const int64_t *shape);

/* The model's answer to a batch x[N, ...]. Builds the model when it is not built. */
gr_tensor *gr_forward(gr_module *net, gr_tensor *x);

/*
 * The loss to minimise: the scalar loss and what the built model's layers ask for beside it (gr_dense_options.l2),
 * which is the same for a batch of any size. The loss itself where they ask for nothing. Once in an update.
 */
gr_tensor *gr_add_penalty(gr_module *net, gr_tensor *loss);

/* Parameters in layer order: 0 .. count-1. In memory, filters are KRSC and dense weights [in, out]. */
int gr_parameter_count(const gr_module *net);
const char *gr_parameter_name(const gr_module *net, int i); /* "conv1.weight" */
gr_tensor *gr_parameter(const gr_module *net, int i);

/*
 * Transfer learning: parameters whose names match stay as they are. patterns: as the shell's, between commas, where *
 * goes across dots, too: "conv1.*,layer[123].*". What is frozen gets no gradient, no moments and no weight decay; the
 * backward pass ends where nothing below is trained, and activations below are not kept. On a built model, before its
 * first backward pass, and for good. Returns how many parameters are frozen now; -1, recorded: a pattern that no name
 * matches.
 */
int gr_module_freeze(gr_module *net, const char *patterns);

/*
 * The same for running statistics, by their names ("layer1.0.bn1.running_mean"): those layers of batch normalisation
 * use them in training, too, as in evaluation, and they do not move. Without this a layer goes by each batch's
 * statistics although its scale and shift are frozen. Returns of how many layers; -1, recorded: nothing matches.
 */
int gr_module_freeze_statistics(gr_module *net, const char *patterns);

bool gr_parameter_frozen(const gr_module *net, int i);

/*
 * The same with running statistics behind the parameters, all that a file of weights holds: 0 .. count-1. Of a built
 * model.
 */
int gr_state_count(const gr_module *net);
const char *gr_state_name(const gr_module *net, int i); /* "bn1.running_var" */
gr_tensor *gr_state(const gr_module *net, int i);

/*
 * Weights on disk are as PyTorch has them: filters OIHW, dense weights (out, in) with the columns behind a flatten in
 * C,H,W order, running statistics of batch normalisation, float32, in a safetensors file. Loading wants exactly the
 * model's names and shapes and says which differ; PyTorch's counters num_batches_tracked are passed over.
 */
bool gr_save_weights(gr_module *net, const char *path);
bool gr_load_weights(gr_module *net, const char *path);

/* What gr_export_weights writes for. */
typedef enum {
    GR_FOR_TORCH = 0, /* as gr_save_weights, with the counters that load_state_dict wants of batch normalisation */
    GR_FOR_KERAS,     /* conv1/kernel HWIO, dense1/kernel (in,out), bn1/gamma: safetensors, too */
    GR_FOR_NUMPY      /* numpy.load reads it: PyTorch's names and layout in an .npz archive, of at most 4 GB */
} gr_weights_reader;

/* A built model's weights for another tool. False: recorded. */
bool gr_export_weights(gr_module *net, const char *path, gr_weights_reader reader);

typedef struct {
    /* Where the file has no last dense layer, or one of another shape, the model's keeps its first values. */
    bool keep_head;
} gr_import_options;

/* Texts are the context's until gr_close. */
typedef struct {
    const char *told;  /* what was turned around or passed over, in a line; "": nothing */
    const char *head;  /* the layer that kept its first values; "": none did */
    const char *table; /* where something does not fit: names and shapes of both sides, in lines; else NULL */
} gr_import_report;

/*
 * Weights of whichever tool, a safetensors file or NumPy's .npz (of at most 4 GB, numpy.savez_compressed's too):
 * Gradus' own; a state dict of PyTorch; Keras' variables under their paths. The names tell whose they are, and so how
 * the tensors lie; names of both, or shapes that do not fit, are refused (GR_BAD_DATA). Layers go by their names or,
 * where these differ in numbers alone (0.weight, 4.weight; conv2d/kernel, conv2d_1/kernel), by their order among those
 * of their kind, which the report tells. Types f64, f32, f16, bf16. All of it is loaded or nothing. options and report
 * may be NULL.
 */
bool gr_import_weights(gr_module *net, const char *path, const gr_import_options *options, gr_import_report *report);

/* A tensor in a file of weights, whoever wrote it. */
typedef struct {
    const char *name; /* the context's until gr_close */
    const char *type; /* "f32" */
    int ndim;
    int64_t shape[GR_MAX_DIMS];
    int64_t count, bytes;
} gr_listed_tensor;

/*
 * A file's tensors in the order of their data into *list, the context's until gr_close. Returns how many; -1: recorded.
 */
int gr_list_weights(gr_context *ctx, const char *path, const gr_listed_tensor **list);

/*
 * Outputs of the model's last dense layer, which gives its answer, 0 where there is none; and setting them, before the
 * model is built: a network for other classes. False: recorded.
 */
int gr_module_outputs(gr_module *net);
bool gr_module_set_outputs(gr_module *net, int outputs);

/* The name of that layer in a built model: "fc", so that its parameters are "fc.*"; "" where there is none. */
const char *gr_module_head(gr_module *net);

/* A line of text in a file of weights: what a program wants to know when it reads them again. UTF-8. */
typedef struct {
    const char *key, *value;
} gr_note;

/* gr_save_weights with n notes, and with a checksum of the whole file, which gr_load_weights looks at. */
bool gr_save_weights_with(gr_module *net, const char *path, int n, const gr_note *notes);

/*
 * The values of n keys in a file of weights into values, each the context's until gr_close; NULL where the file has no
 * such note. False: recorded.
 */
bool gr_read_notes(gr_context *ctx, const char *path, int n, const char *const *keys, const char **values);

/* One row of a summary. */
enum { GR_SUMMARY_INPUTS = 8 /* of an operation, at most */ };
typedef struct {
    const char *name;                     /* "conv1+relu1+pool1": what runs as one operation */
    const char *op;                       /* "conv2d_relu_max_pool" */
    int inputs, input[GR_SUMMARY_INPUTS]; /* the rows whose results it takes, -1: the input of the model */
    int ndim;
    int64_t shape[GR_MAX_DIMS]; /* of the output, without the batch dimension */
    int64_t parameters;
    double flops_forward, flops_backward; /* per sample; a multiply-add is two */
    int64_t bytes;                        /* kept per sample between forward and backward */
} gr_summary_row;

/*
 * Fills rows (at most max) for the built model, one per operation that the backward pass goes through, and returns how
 * many there are; -1 on error. Runs a dry step, so it computes nothing and needs no step memory.
 */
int gr_summary(gr_module *net, gr_summary_row *rows, int max);

#ifdef __cplusplus
}
#endif
#endif
