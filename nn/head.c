/* head.c - the last dense layer of a model, which gives its answer. */
#include "nn/module.h"

gr_module *gr__head(gr_module *net)
{
    if (net->class == &gr__dense_class)
        return net;
    for (int i = net->n_children - 1; i >= 0; i--) {
        gr_module *head = net->children[i] ? gr__head(net->children[i]) : NULL;
        if (head)
            return head;
    }
    return NULL;
}

int gr_module_outputs(gr_module *net)
{
    const gr_module *head = net ? gr__head(net) : NULL;
    return head ? head->dense.units : 0;
}

const char *gr_module_head(gr_module *net)
{
    const gr_module *head = net && net->parameters ? gr__head(net) : NULL;
    return head ? head->name : "";
}

bool gr_module_set_outputs(gr_module *net, int outputs)
{
    if (!net || !gr_ok(net->ctx))
        return false;
    gr_module *head = gr__head(net);
    if (!head)
        return gr__fail(net->ctx, GR_USAGE, "gr_module_set_outputs: the model has no dense layer");
    if (net->parameters || outputs < 1)
        return gr__fail(net->ctx, GR_USAGE, "gr_module_set_outputs: %s",
                        net->parameters ? "the model is built already; set them before"
                                        : "a model has at least 1 output");
    head->dense.units = outputs;
    net->classes = outputs; /* in place of what its text was read for */
    return true;
}
