/* profile_compare.c - two profiles side by side: what became slower or faster, beyond what updates differ by anyway. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "terminal/complain.h"
#include "terminal/json_values.h"

/* One line of both; a time is NAN where a profile has no such line. */
typedef struct {
    const char *op, *pass;
    double ms[2], error[2];
} pair;

/* The line of op and pass, added where it is new. */
static pair *pair_of(pair *pairs, int *n, const char *op, const char *pass)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(pairs[i].op, op) == 0 && strcmp(pairs[i].pass, pass) == 0)
            return &pairs[i];
    pairs[*n] = (pair){op, pass, {NAN, NAN}, {NAN, NAN}};
    return &pairs[(*n)++];
}

static void collect(pair *pairs, int *n, const json_t *from, int side)
{
    size_t i;
    const json_t *l;
    json_array_foreach(json_object_get(from, "operations"), i, l)
    {
        pair *p = pair_of(pairs, n, text_at(l, "op"), text_at(l, "pass"));
        p->ms[side] = number_at(l, "ms");
        p->error[side] = number_at(l, "error_ms");
    }
}

/* Milliseconds from a to b; what a profile does not have takes none. */
static double change(const pair *p)
{
    return (isnan(p->ms[1]) ? 0 : p->ms[1]) - (isnan(p->ms[0]) ? 0 : p->ms[0]);
}

static int by_change(const void *a, const void *b)
{
    const double x = fabs(change(a)), y = fabs(change(b));
    return (x < y) - (x > y);
}

/* A difference counts from three of its standard errors on; without errors nobody knows. */
static const char *verdict(const pair *p)
{
    const double error = hypot(p->error[0], p->error[1]);
    if (isnan(p->ms[0]) || isnan(p->ms[1]))
        return isnan(p->ms[0]) ? "new" : "gone";
    if (!(fabs(change(p)) > 3 * error))
        return "undecided";
    return change(p) > 0 ? "slower" : "faster";
}

static void print_time(double ms)
{
    if (isnan(ms))
        printf(" %9s", "-");
    else
        printf(" %9.3f", ms);
}

static void print_pair(const pair *p)
{
    printf("%-22.22s %-8.8s", p->op, p->pass);
    print_time(p->ms[0]);
    print_time(p->ms[1]);
    printf(" %+9.3f", change(p));
    if (isnan(p->ms[0]) || isnan(p->ms[1]))
        printf(" %8s", "");
    else
        printf(" %+6.1f %%", 100 * change(p) / p->ms[0]);
    printf(" %s\n", verdict(p));
}

/* Two profiles of different things can be compared, but that should be known. */
static void tell_apart(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"recipe", "batch",   "optimizer", "device",
                                       "isa",    "threads", "precision", "version"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        if (json_equal(x, y))
            continue;
        if (json_is_string(x) && json_is_string(y))
            printf("%s: %s, then %s\n", keys[i], json_string_value(x), json_string_value(y));
        else
            printf("%s: %.0f, then %.0f\n", keys[i], number_at(a, keys[i]), number_at(b, keys[i]));
    }
}

static void print_pairs(const pair *pairs, int n, const pair *whole)
{
    printf("\n%-22s %-8s %9s %9s %9s\n", "operation", "pass", "before ms", "after ms", "change");
    for (int i = 0; i < n; i++)
        print_pair(&pairs[i]);
    print_pair(whole);
    printf("\nundecided: less than three standard errors of the means over the updates. They\n"
           "know nothing of what differs from process to process: profile both twice.\n");
}

static void print_pairs_json(const pair *pairs, int n, const pair *whole)
{
    json_t *list = json_array();
    for (int i = 0; i <= n; i++) {
        const pair *p = i < n ? &pairs[i] : whole;
        json_t *o = json_pack("{s:s, s:s, s:f, s:s}", "op", p->op, "pass", p->pass, "change_ms", change(p), "verdict",
                              verdict(p));
        json_object_set_new(o, "before_ms", isnan(p->ms[0]) ? json_null() : json_real(p->ms[0]));
        json_object_set_new(o, "after_ms", isnan(p->ms[1]) ? json_null() : json_real(p->ms[1]));
        json_array_append_new(list, o);
    }
    json_dumpf(list, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
    printf("\n");
    json_decref(list);
}

static int compare(const json_t *a, const json_t *b, bool json, const char *command)
{
    int n = 0;
    const size_t most =
        json_array_size(json_object_get(a, "operations")) + json_array_size(json_object_get(b, "operations"));
    pair *pairs = calloc(most + 1, sizeof *pairs);
    if (!pairs)
        return complain(GR_NO_MEMORY, command, "out of host memory for %zu lines", most);
    collect(pairs, &n, a, 0);
    collect(pairs, &n, b, 1);
    qsort(pairs, (size_t)n, sizeof *pairs, by_change);
    const pair whole = {"whole update",
                        "",
                        {number_at(a, "ms"), number_at(b, "ms")},
                        {number_at(a, "error_ms"), number_at(b, "error_ms")}};
    if (!json)
        tell_apart(a, b);
    (json ? print_pairs_json : print_pairs)(pairs, n, &whole);
    free(pairs);
    return 0;
}

int profile_compare(const char *a, const char *b, bool json, const char *command)
{
    json_t *before, *after = NULL;
    int code = profile_read(a, command, &before);
    if (code == 0)
        code = profile_read(b, command, &after);
    if (code == 0)
        code = compare(before, after, json, command);
    json_decref(before);
    json_decref(after);
    return code;
}
