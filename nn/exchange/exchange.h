/*
 * exchange.h - weights between tools: the words of each for the same tensors, and which layer of a file is which of a
 * model.
 *
 *              filters             dense weight   normalisation                    layers
 *   PyTorch    conv1.weight OIHW   fc.weight OI   bn1.weight, bias, running_mean   features.0, layer1.0.conv1
 *   Keras      conv2d/kernel HWIO  dense/kernel   bn/gamma, beta, moving_mean      sequential/conv2d_1
 *
 * Gradus' own files are as PyTorch's. Whose file it is, its words decide, never a shape: a square kernel fits both.
 */
#ifndef GRADUS_EXCHANGE_H
#define GRADUS_EXCHANGE_H

#include "nn/weights.h"

/* What a tensor is to its layer. */
typedef enum { GR__WEIGHT, GR__BIAS, GR__MEAN, GR__VARIANCE, GR__WORDS, GR__COUNTER = GR__WORDS, GR__OTHER } gr_term;

/* The tool's word for what the tensor of this name is; *length: of the layer's name before it. */
gr_term gr__word_of(gr_disk_order tool, const char *name, size_t *length);

/* The word that a tool has for a tensor of a layer, of batch normalisation or another. */
const char *gr__word(gr_disk_order tool, gr_term word, bool normalisation);

/* Whose words a file's names are. False: recorded: nobody's, or both tools'. */
bool gr__tool_of(gr_context *ctx, const char *path, const gr_safetensors *file, gr_disk_order *tool);

typedef enum { GR__CONVOLUTION, GR__DENSE, GR__NORMALISATION, GR__NO_KIND, GR__KINDS = GR__NO_KIND } gr_layer_kind;

/* A layer of the file or of the model. */
typedef struct {
    char name[128];
    gr_layer_kind kind;
    int place[GR__WORDS]; /* of its tensors in the file or among the model's stored values; -1: there is none */
    int partner;          /* the other side's layer; -1: none */
} gr_layer;

typedef struct {
    const gr_module *net;
    const gr_safetensors *file;
    gr_disk_order tool;
    int n_model, n_file;
    gr_layer *model, *in_file;
    int *from;     /* by stored value of the model: its tensor in the file; -1: none */
    bool *used;    /* by tensor of the file */
    bool by_order; /* some layers have other names and were matched by their numbers */
} gr_match;

/* Which tensor is whose. To be freed whatever it returns. False: recorded, out of memory. */
bool gr__match(const gr_module *net, const gr_safetensors *file, gr_disk_order tool, gr_match *match);
void gr__match_free(gr_match *match);

/* Whether tensor i of the file is nothing that a model wants: PyTorch's counters, the rest of a checkpoint. */
bool gr__is_beside(const gr_safetensors *file, gr_disk_order tool, int i);

/* Whether stored value i of the model has a tensor of its shape, and of a type that can be read. */
bool gr__value_fits(const gr_match *match, int i);

/* Both sides with names and shapes, where they differ, a line each; the context's. NULL: recorded. */
const char *gr__match_table(const gr_match *match);

/* Writes NumPy's archive of arrays: a zip file, its members uncompressed. False: recorded, nothing left behind. */
bool gr__npz_write(gr_context *ctx, const char *path, int n, const gr_saved_tensor *tensors);

/* Reads one, stored or deflated, as gr__safetensors_read does. False: recorded, nothing left to free. */
bool gr__npz_read_open(gr_input_file *in, gr_safetensors *file);

/* Of the first n bytes of a file of another tool that is not read: what it is, and what to write instead; else NULL. */
const char *gr__foreign_weights(const char *bytes, size_t n);

/*
 * What an .npy file of size bytes says of its array: type, shape, where in bytes its elements lie. Those of Fortran's
 * order are turned around there. Returns the rule that it breaks; NULL: none, or ctx tells of lack of memory.
 */
const char *gr__npy_read(gr_context *ctx, char *bytes, size_t size, gr_saved_tensor *t);

#endif
