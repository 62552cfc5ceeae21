/* budget.c - see budget.h. */
#include "settings/budget.h"

#include <string.h>

#include "terminal/values.h"

bool read_budget(const char *text, run_budget *b)
{
    *b = (run_budget){0};
    const struct {
        const char *kind;
        int64_t most, *count; /* NULL: seconds */
    } kinds[] = {{"epochs", 1000000, &b->epochs},
                 {"updates", INT64_MAX / 2, &b->updates},
                 {"samples", INT64_MAX / 2, &b->samples},
                 {"seconds", 1000000000, NULL}};
    const size_t length = strcspn(text, "=");
    for (size_t i = 0; text[length] && i < sizeof kinds / sizeof *kinds; i++) {
        const char *number = text + length + 1;
        if (strlen(kinds[i].kind) != length || strncmp(text, kinds[i].kind, length) != 0)
            continue;
        return kinds[i].count ? parse_count(number, 1, kinds[i].most, kinds[i].count)
                              : parse_positive(number, &b->seconds) && b->seconds <= (double)kinds[i].most;
    }
    return false;
}
