/* target.c - see target.h. */
#include "train/target.h"

#include <math.h>

#include "terminal/json_values.h"

/* A share counted among samples may differ from the same share in percent by a rounding. */
static bool reaches(double accuracy, double target)
{
    return accuracy >= target - 1e-9;
}

bool target_is_told(const result *r)
{
    return r->run->target > 0 && (r->fit.test.samples > 0 || r->tta.samples > 0);
}

double target_seconds(const result *r)
{
    const double target = r->run->target;
    size_t i;
    json_t *epoch;
    if (target <= 0)
        return NAN;
    json_array_foreach(r->history, i, epoch)
    {
        if (reaches(number_at(epoch, "test_accuracy"), target))
            return number_at(epoch, "seconds");
    }
    return r->tta.samples > 0 && reaches(r->tta.accuracy, target) ? r->fit.seconds : NAN;
}

double evaluation_seconds(const result *r)
{
    return r->fit.time.evaluate + r->tta.seconds;
}
