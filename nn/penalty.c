/* penalty.c - what a model's weights add to its loss. */
#include "nn/module.h"

gr_tensor *gr_add_penalty(gr_module *net, gr_tensor *loss)
{
    const gr_parameters *list = net ? net->parameters : NULL;
    for (int i = 0; list && i < list->n && loss; i++)
        if (list->plans[i].l2 > 0)
            loss = gr_add(loss, gr_l2_penalty(list->slab->segments[i].value, list->plans[i].l2), NULL);
    return loss;
}
