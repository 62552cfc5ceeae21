/* time_use.c - see time_use.h. */
#include "optim/training/time_use.h"

void gr__time_add(gr_time_use *t, const gr_loader *loader, bool evaluation)
{
    const gr_loader_time s = gr_loader_seconds(loader);
    t->wait += s.wait;
    t->copy += s.copy;
    t->making += s.making;
    t->reading += s.reading;
    *(evaluation ? &t->evaluate : &t->compute) -= s.wait + s.copy;
}

gr_time_use gr__time_since(const gr_time_use *now, const gr_time_use *then)
{
    return (gr_time_use){now->wait - then->wait,         now->copy - then->copy,     now->compute - then->compute,
                         now->evaluate - then->evaluate, now->making - then->making, now->reading - then->reading};
}
