/* test_part.c - see test_part.h. */
#include "train/test_part.h"

#include "evaluate/answers.h"
#include "terminal/complain.h"
#include "terminal/system.h"

int test_part_check(const resolved *s, const source *data, const char *command)
{
    const gr_dataset *test = data->split.test;
    if (s->asked.no_evaluation)
        return 0;
    if (views_count(&s->tta) > 1 && test != data->plain_test)
        return complain(GR_USAGE, command,
                        "--tta %s: --augment %s cuts or resizes the test pictures, so that there is nothing to move; "
                        "give --tta none",
                        s->asked.tta, s->augment);
    return s->target > 0 && !test
               ? complain(GR_USAGE, command, "--target-accuracy is of the test part, and there are no test pictures")
               : 0;
}

int test_part_views(gr_module *net, gr_context *ctx, const resolved *s, const source *data, result *r,
                    const char *command)
{
    gr_dataset *test = data->split.test;
    answers a = {0};
    if (s->asked.no_evaluation || !test || views_count(&s->tta) == 1)
        return 0;
    const double begin = now_seconds();
    /* no larger a batch than that of training, for which there is memory */
    const int code = answers_of_views(ctx, net, test, &s->tta, resolved_micro_batch(s), command, &a);
    if (code == 0) {
        r->tta.accuracy = answers_accuracy(&a, test);
        r->tta.samples = gr_dataset_size(test);
        r->tta.seconds = now_seconds() - begin;
    }
    answers_close(&a);
    return code;
}
