/* surface.c - see surface.h. */
#include "landscape/surface.h"
#include "terminal/json_values.h"

#include <math.h>
#include <stdlib.h>

#include "terminal/text.h"

static const double BESIDE = 0.25; /* of a line: where the loss is looked at to tell how far it rises around an end */
static const char *const ends[] = {"A", "B", "C"};

static const char *const kind_names[] = {"line", "plane", "random plane"};

/* --- the grid ----------------------------------------------------------------------------------------------------- */

double surface_places(surface_kind kind, int steps, double reach)
{
    const double side = 1 + (kind == RANDOM_PLANE ? 2. * steps : steps + 2 * floor(reach * steps + 1e-9));
    return kind == LINE ? side : side * side;
}

bool surface_open(surface *s, surface_kind kind, int steps, double reach)
{
    const int beyond = (int)floor(reach * steps + 1e-9);
    const int first = kind == RANDOM_PLANE ? -steps : -beyond, last = kind == RANDOM_PLANE ? steps : steps + beyond;
    const double scale = kind == RANDOM_PLANE ? reach : 1;
    const int side = last - first + 1;
    s->kind = kind;
    s->n = kind == LINE ? side : side * side;
    s->points = calloc((size_t)s->n, sizeof *s->points);
    for (int i = 0; s->points && i < s->n; i++) {
        s->points[i].x = scale * (first + i % side) / steps;
        s->points[i].y = kind == LINE ? 0 : scale * (first + i / side) / steps;
    }
    return s->points != NULL;
}

void surface_close(surface *s)
{
    free(s->points);
    s->points = NULL;
}

void surface_factors(const surface *s, const surface_point *p, double factors[3])
{
    factors[0] = s->kind == RANDOM_PLANE ? 1 : 1 - p->x - p->y;
    factors[1] = p->x;
    factors[2] = p->y;
}

/* NULL: it is not on the grid. */
static const surface_point *point_at(const surface *s, double x, double y)
{
    for (int i = 0; i < s->n; i++)
        if (fabs(s->points[i].x - x) < 1e-9 && fabs(s->points[i].y - y) < 1e-9)
            return &s->points[i];
    return NULL;
}

/* Where the weights of a file are; NULL behind the last. */
static const surface_point *end_at(const surface *s, int i)
{
    return s->weights[i] ? point_at(s, i == 1, i == 2) : NULL;
}

/* --- what it says ------------------------------------------------------------------------------------------------- */

/* How much higher the training loss is beside an end of a line, in the mean of both sides; NAN: not looked at. */
static double rise(const surface *s, const surface_point *end)
{
    const surface_point *left = point_at(s, end->x - BESIDE, 0), *right = point_at(s, end->x + BESIDE, 0);
    return s->kind == LINE && left && right ? (left->train.loss + right->train.loss) / 2 - end->train.loss : NAN;
}

/*
 * How far the training loss between two ends lies above the straight line between theirs; NAN: no line, or a loss there
 * that is not finite.
 */
static double barrier(const surface *s)
{
    const surface_point *a = point_at(s, 0, 0), *b = point_at(s, 1, 0);
    double most = 0;
    if (s->kind != LINE)
        return NAN;
    for (int i = 0; i < s->n; i++) {
        const surface_point *p = &s->points[i];
        const double above = p->train.loss - (1 - p->x) * a->train.loss - p->x * b->train.loss;
        if (p->x >= 0 && p->x <= 1)
            most = isfinite(above) ? fmax(most, above) : NAN;
        if (isnan(most))
            break;
    }
    return most;
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *measured(const surface_point *p)
{
    return json_pack("{s:f, s:f, s:o, s:o, s:o, s:o}", "x", p->x, "y", p->y, "train_loss",
                     json_real_or_null(p->train.loss), "train_accuracy", json_real_or_null(p->train.accuracy),
                     "test_loss", json_real_or_null(p->test.loss), "test_accuracy",
                     json_real_or_null(p->test.accuracy));
}

/* The ends, as gradus reproduce takes them for runs. */
static json_t *ends_json(const surface *s)
{
    json_t *list = json_array();
    const surface_point *end;
    for (int i = 0; s->weights[i] && (end = end_at(s, i)) != NULL; i++) {
        json_t *row = measured(end);
        json_object_set_new(row, "variant", json_string(ends[i]));
        json_object_set_new(row, "weights", json_string(s->weights[i]));
        json_object_set_new(row, "rise", json_real_or_null(rise(s, end)));
        json_array_append_new(list, row);
    }
    return list;
}

json_t *surface_json(const surface *s)
{
    json_t *points = json_array(), *files = json_array();
    for (int i = 0; i < s->n; i++)
        json_array_append_new(points, measured(&s->points[i]));
    for (int i = 0; s->weights[i]; i++)
        json_array_append_new(files, json_plain(s->weights[i]));
    return json_pack("{s:s, s:s, s:o, s:o, s:I, s:I, s:s, s:I, s:I, s:o, s:o, s:o}", "kind", kind_names[s->kind],
                     "recipe", s->recipe, "data", json_plain(s->data), "weights", files, "train_samples",
                     (json_int_t)s->points[0].train.samples, "test_samples", (json_int_t)s->points[0].test.samples,
                     "statistics", s->statistics, "eval_batch", (json_int_t)s->batch, "direction_seed",
                     (json_int_t)s->seed, "points", points, "barrier", json_real_or_null(barrier(s)), "rows",
                     ends_json(s));
}

/* Behind a comma, nothing where it is not finite. */
static void write_cell(double x, FILE *f)
{
    fputc(',', f);
    if (isfinite(x))
        fprintf(f, "%.15g", x);
}

void surface_write_csv(const surface *s, FILE *f)
{
    fprintf(f, "x,y,train_loss,train_accuracy,test_loss,test_accuracy\n");
    for (int i = 0; i < s->n; i++) {
        const surface_point *p = &s->points[i];
        fprintf(f, "%.15g,%.15g", p->x, p->y);
        write_cell(p->train.loss, f);
        write_cell(p->train.accuracy, f);
        write_cell(p->test.loss, f);
        write_cell(p->test.accuracy, f);
        fputc('\n', f);
    }
}

/* --- for people --------------------------------------------------------------------------------------------------- */

/* Loss and accuracy of a part; where the loss is not finite, the right answers are chance. */
static void print_part(const gr_metrics *m)
{
    if (isfinite(m->loss))
        printf("  %10.4f %7.1f %%", m->loss, 100 * m->accuracy);
    else
        printf("  %10s %9s", "not finite", "-");
}

/* A line of the table; name: the weights that lie there, or "". */
static void print_point(const surface *s, const surface_point *p, const char *name)
{
    printf("%7.3f", p->x);
    if (s->kind != LINE)
        printf(" %7.3f", p->y);
    print_part(&p->train);
    print_part(&p->test);
    printf("%s%s\n", *name ? "  " : "", name);
}

/* Of a plane the weights' places, and where the training loss is lowest and highest of those that are finite. */
static void print_some(const surface *s)
{
    const surface_point *low = NULL, *high = NULL, *end;
    for (int i = 0; s->weights[i] && (end = end_at(s, i)) != NULL; i++)
        print_point(s, end, ends[i]);
    for (const surface_point *p = s->points; p < s->points + s->n; p++) {
        if (!isfinite(p->train.loss))
            continue;
        low = !low || p->train.loss < low->train.loss ? p : low;
        high = !high || p->train.loss > high->train.loss ? p : high;
    }
    if (!low)
        return;
    print_point(s, low, "the lowest");
    print_point(s, high, "the highest");
}

/* How many places have a training loss that is not finite. */
static int places_without(const surface *s)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        n += !isfinite(s->points[i].train.loss);
    return n;
}

static void print_ends(const surface *s)
{
    putchar('\n');
    for (int i = 0; s->weights[i]; i++) {
        const surface_point *end = end_at(s, i);
        printf("%s  ", ends[i]);
        print_plain(stdout, s->weights[i]);
        if (isfinite(rise(s, end)))
            printf(": the training loss rises by %.4f within %g of it", rise(s, end), BESIDE);
        putchar('\n');
    }
    if (isfinite(barrier(s)))
        printf("between them it lies at most %.4f above the straight line\n", barrier(s));
    if (places_without(s))
        printf("the training loss is not finite at %d of %d places; a smaller --reach stays nearer\n",
               places_without(s), s->n);
}

void surface_print(const surface *s)
{
    char n[2][32];
    printf("%s on ", s->recipe);
    print_plain(stdout, s->data);
    printf(": %s training samples, %s test samples\n\n", thousands_text(s->points[0].train.samples, n[0]),
           thousands_text(s->points[0].test.samples, n[1]));
    printf(s->kind == LINE ? "      x  " : "      x       y  ");
    printf("train loss  accuracy   test loss  accuracy\n");
    for (int i = 0; s->kind == LINE && i < s->n; i++) {
        const surface_point *p = &s->points[i];
        print_point(s, p, p == end_at(s, 0) ? ends[0] : p == end_at(s, 1) ? ends[1] : "");
    }
    if (s->kind != LINE)
        print_some(s);
    print_ends(s);
}
