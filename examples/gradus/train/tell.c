/* tell.c - see tell.h. */
#include "train/tell.h"

#include <math.h>
#include <stdio.h>

#include "sweep/statistics.h"
#include "terminal/text.h"
#include "train/target.h"

static void print_metrics(const char *what, const gr_metrics *m, const char *second)
{
    if (m->samples == 0)
        return;
    double p = m->accuracy;
    printf("  %-11s accuracy %5.1f %%  loss %.4f  (%lld samples: standard error %.1f points)\n", what, 100 * p, m->loss,
           (long long)m->samples, 100 * share_error(p, (double)m->samples));
    printf("  %-11s precision %4.1f %%  recall %4.1f %%  F1 %4.1f %%  (of ", "", 100 * m->precision, 100 * m->recall,
           100 * m->f1);
    print_plain(stdout, m->classes > 2 ? "all classes, in the mean" : second ? second : "the second class");
    printf(")\n");
}

/* Of the test part in all views. */
static void print_views(const result *r)
{
    const double p = r->tta.accuracy;
    char name[32];
    if (r->tta.samples > 0)
        printf("  %-11s accuracy %5.1f %%  (of each test picture: standard error %.1f points)\n",
               views_name(&r->run->tta, name), 100 * p, 100 * share_error(p, (double)r->tta.samples));
}

static void print_target(const result *r)
{
    const double target = r->run->asked.target_accuracy, seconds = target_seconds(r);
    char time[2][32];
    if (!target_is_told(r))
        return;
    if (isnan(seconds))
        printf("  %-11s %g %% was not reached\n", "target", target);
    else
        printf("  %-11s %g %% after %s of training (evaluation, %s, is not counted)\n", "target", target,
               duration_text(seconds, time[0]), duration_text(evaluation_seconds(r), time[1]));
}

void tell_result(const result *r)
{
    const resolved *s = r->run;
    const gr_fit_result *fit = &r->fit;
    char time[32], peak[32];
    printf("%s on ", s->recipe->name);
    print_plain(stdout, r->data);
    printf(", %s lr %g, batch size %lld, seed %lld: %s\n", s->optimizer->name, s->lr, (long long)s->batch,
           (long long)s->asked.seed, row_state(r->code));
    if (fit->loss_scale != 1)
        printf("  %-11s %g at the end, %lld update%s skipped\n", "loss scale", fit->loss_scale, (long long)fit->skipped,
               fit->skipped == 1 ? "" : "s");
    printf("  %-11s accuracy %5.1f %%  loss %.4f  (last epoch, while the weights were changing)\n", "training",
           100 * fit->train_accuracy, fit->train_loss);
    if (s->asked.ema.value > 0)
        printf("  %-11s decay %g: %s of the averaged weights\n", "averages", s->asked.ema.value,
               s->asked.save_weights ? "evaluation and saved weights are" : "the evaluation is");
    print_metrics("validation", &fit->val, r->second);
    print_metrics("test", &fit->test, r->second);
    print_views(r);
    printf("  %lld update%s, %lld samples in %s: %.0f samples/s on %s %s, %d thread%s; peak memory %s\n",
           (long long)fit->updates, fit->updates == 1 ? "" : "s", (long long)fit->samples,
           duration_text(fit->seconds, time), (double)fit->samples / fit->seconds, r->device, r->isa, r->threads,
           r->threads == 1 ? "" : "s", bytes_text((double)r->peak_bytes, peak));
    print_target(r);
    if (*r->bottleneck)
        printf("  %s\n", r->bottleneck);
    if (s->budget.seconds > 0)
        printf("  ended by %g s of training: another run ends at another update, with other bits\n", s->budget.seconds);
}
