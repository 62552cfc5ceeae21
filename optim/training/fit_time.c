/* fit_time.c - where the time of a run goes. */
#include "optim/training/fit_run.h"

void gr__time_add_loader(gr_time_use *t, const gr_loader *loader, double *computing)
{
    const gr_loader_time s = gr_loader_seconds(loader);
    t->wait += s.wait;
    t->copy += s.copy;
    t->making += s.making;
    t->reading += s.reading;
    *computing -= s.wait + s.copy;
}

gr_time_use gr__fit_time_use(const gr_fit_run *f)
{
    gr_time_use t = f->closed;
    t.compute += f->p.seconds;
    t.evaluate += f->evaluating;
    gr__time_add_loader(&t, f->trainer.loader, &t.compute);
    gr__time_add_loader(&t, f->val.loader, &t.evaluate);
    gr__time_add_loader(&t, f->test.loader, &t.evaluate);
    return t;
}

gr_time_use gr__time_since(const gr_time_use *now, const gr_time_use *then)
{
    return (gr_time_use){now->wait - then->wait,         now->copy - then->copy,     now->compute - then->compute,
                         now->evaluate - then->evaluate, now->making - then->making, now->reading - then->reading};
}
