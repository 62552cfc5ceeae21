/* fit_loader.c - the loader of a run of gr_fit: a new one wherever the batch size changes. */
#include "optim/training/fit_run.h"

bool gr__fit_open_loader(gr_fit_run *f, gr_batch_stage stage, int64_t skip)
{
    gr_trainer *t = &f->trainer;
    gr__time_add_loader(&f->closed, t->loader, &f->closed.compute);
    gr_loader_close(t->loader);
    t->loader = gr_loader_open(f->set, &(gr_loader_options){.batch = stage.batch,
                                                            .micro_batch = f->o->micro_batch,
                                                            .order = f->o->order,
                                                            .last = f->o->last,
                                                            .epoch = stage.epoch,
                                                            .skip = skip,
                                                            .workers = f->o->workers,
                                                            .prefetch = f->o->prefetch,
                                                            .on_device = f->o->on_device,
                                                            .shards = t->sum.shards,
                                                            .rank = gr_group_rank(f->o->group),
                                                            .ranks = gr_group_size(f->o->group)});
    f->p.batch = stage.batch;
    f->p.batches = gr_loader_batches(t->loader);
    return t->loader != NULL;
}
