/* evaluation.c - see evaluation.h. */
#include "evaluate/evaluation.h"
#include "terminal/json_values.h"

#include <math.h>
#include <stdio.h>

#include "terminal/text.h"
#include "train/row.h"

enum { NAME = 20, CELL = 7, MATRIX_CLASSES = (TERMINAL_WIDTH - NAME) / CELL, CONFUSIONS = 10 };

/* --- for people --------------------------------------------------------------------------------------------------- */

static void print_class(const evaluation *e, int class, int width, bool right)
{
    char number[32];
    print_in_columns(stdout, weights_file_class(e->notes, class, number), width, right);
}

/* "92.3 %", or "-" where there is nothing to divide by. */
static void print_share(double share, int width)
{
    char text[32] = "-";
    if (!isnan(share))
        snprintf(text, sizeof text, "%.1f %%", 100 * share);
    printf("%*s", width, text);
}

static void print_what(const evaluation *e)
{
    const test_pictures *t = e->pictures;
    char n[2][32];
    print_plain(stdout, t->data);
    printf(": %s samples", thousands_text(t->found, n[0]));
    if (t->left_out)
        printf("; left out %s that the network was trained on or chosen by", thousands_text(t->left_out, n[1]));
    putchar('\n');
    if (!t->known)
        print_wrapped(stdout,
                      "The weights do not tell which files they were trained on: if some of these were among them, "
                      "the accuracy is too good to be true.",
                      0, 0);
    putchar('\n');
}

static void print_accuracy(const evaluation *e)
{
    const scores *s = e->scores;
    char n[32], number[32];
    printf("accuracy    %.1f %% of %s (standard error %.1f points)%s%s\n", 100 * s->accuracy, thousands_text(s->n, n),
           100 * s->standard_error, views_count(e->seen) > 1 ? ", each seen " : "",
           views_count(e->seen) > 1 ? views_text(e->seen) : "");
    printf("            the true rate lies between %.1f and %.1f %% (95 %% interval)\n", 100 * s->low, 100 * s->high);
    printf("            always answering ");
    print_plain(stdout, weights_file_class(e->notes, s->common, number));
    printf(" would be right for %.1f %%%s\n\n", 100 * s->common_share,
           s->low <= s->common_share ? ": no better is shown" : "");
}

static void print_classes(const evaluation *e)
{
    const scores *s = e->scores;
    char n[32];
    printf("%-*s %10s %10s %10s %10s\n", NAME, "class", "samples", "recall", "precision", "F1");
    for (int i = 0; i < s->classes; i++) {
        print_class(e, i, NAME, false);
        printf(" %10s ", thousands_text(scores_labelled(s, i), n));
        print_share(scores_recall(s, i), 10);
        print_share(scores_precision(s, i), 11);
        print_share(scores_f1(s, i), 11);
        putchar('\n');
    }
    putchar('\n');
}

static void print_matrix(const evaluation *e)
{
    const scores *s = e->scores;
    printf("What it is, and what was answered\n%*s", NAME, "");
    for (int j = 0; j < s->classes; j++)
        print_class(e, j, CELL, true);
    putchar('\n');
    for (int i = 0; i < s->classes; i++) {
        print_class(e, i, NAME, false);
        for (int j = 0; j < s->classes; j++)
            printf("%*lld", CELL, (long long)s->counts[i * s->classes + j]);
        putchar('\n');
    }
    putchar('\n');
}

/* The most frequent confusion below what was told last; false: there is none. Ties go by place. */
static bool next_confusion(const scores *s, int64_t *count, int *at)
{
    int best = -1;
    for (int k = 0; k < s->classes * s->classes; k++) {
        const int64_t n = s->counts[k];
        const bool later = n < *count || (n == *count && k > *at);
        if (k / s->classes != k % s->classes && n > 0 && later && (best < 0 || n > s->counts[best]))
            best = k;
    }
    *at = best;
    *count = best < 0 ? 0 : s->counts[best];
    return best >= 0;
}

/* In place of a matrix that is too wide. */
static void print_confusions(const evaluation *e)
{
    const scores *s = e->scores;
    int64_t count = INT64_MAX;
    char number[32];
    printf("Most frequent confusions (--json has the whole matrix)\n");
    for (int i = 0, at = -1; i < CONFUSIONS && next_confusion(s, &count, &at); i++) {
        const int label = at / s->classes, said = at % s->classes;
        printf("  %lld of %lld ", (long long)count, (long long)scores_labelled(s, label));
        print_plain(stdout, weights_file_class(e->notes, label, number));
        printf(": answered ");
        print_plain(stdout, weights_file_class(e->notes, said, number));
        putchar('\n');
    }
    putchar('\n');
}

static void print_mistakes(const evaluation *e)
{
    const scores *s = e->scores;
    char text[32];
    if (s->n_mistakes > 0 && e->wrong > 0)
        printf("Surest mistakes\n");
    for (int64_t i = 0; i < s->n_mistakes && i < e->wrong; i++) {
        const mistake *m = &s->mistakes[i];
        printf("  ");
        print_plain(stdout, test_pictures_name(e->pictures, m->sample, text));
        printf(": answered ");
        print_plain(stdout, weights_file_class(e->notes, m->said, text));
        printf(", %.1f %% sure; it is ", 100 * m->probability);
        print_plain(stdout, weights_file_class(e->notes, m->label, text));
        putchar('\n');
    }
}

void evaluation_print(const evaluation *e)
{
    print_what(e);
    print_accuracy(e);
    print_classes(e);
    (e->scores->classes <= MATRIX_CLASSES ? print_matrix : print_confusions)(e);
    print_mistakes(e);
}

/* --- for machines ------------------------------------------------------------------------------------------------- */

static json_t *class_json(const evaluation *e, int i)
{
    const scores *s = e->scores;
    char number[32];
    return json_pack("{s:s, s:I, s:o, s:o, s:o}", "class", weights_file_class(e->notes, i, number), "samples",
                     (json_int_t)scores_labelled(s, i), "recall", json_real_or_null(scores_recall(s, i)), "precision",
                     json_real_or_null(scores_precision(s, i)), "f1", json_real_or_null(scores_f1(s, i)));
}

static json_t *row_json_of(const scores *s, int label)
{
    json_t *row = json_array();
    for (int j = 0; j < s->classes; j++)
        json_array_append_new(row, json_integer(s->counts[label * s->classes + j]));
    return row;
}

static json_t *mistake_json(const evaluation *e, const mistake *m)
{
    char text[3][32];
    return json_pack("{s:o, s:s, s:s, s:f}", "file", json_plain(test_pictures_name(e->pictures, m->sample, text[0])),
                     "class", weights_file_class(e->notes, m->label, text[1]), "answer",
                     weights_file_class(e->notes, m->said, text[2]), "probability", m->probability);
}

bool evaluation_print_json(const evaluation *e)
{
    const scores *s = e->scores;
    const test_pictures *t = e->pictures;
    char number[32];
    json_t *classes = json_array(), *confusion = json_array(), *mistakes = json_array();
    for (int i = 0; i < s->classes; i++) {
        json_array_append_new(classes, class_json(e, i));
        json_array_append_new(confusion, row_json_of(s, i));
    }
    for (int64_t i = 0; i < s->n_mistakes && i < e->wrong; i++)
        json_array_append_new(mistakes, mistake_json(e, &s->mistakes[i]));
    json_t *o = json_pack("{s:o, s:s, s:o, s:I, s:I, s:o, s:b, s:I, s:I, s:f, s:f, s:[f, f], s:s, s:f, s:o, s:o, s:o}",
                          "weights", json_plain(e->notes->path), "recipe", e->notes->recipe->name, "data",
                          json_plain(t->data), "samples", (json_int_t)s->n, "found", (json_int_t)t->found, "left_out",
                          t->known ? json_integer(t->left_out) : json_null(), "flip", e->seen->flip, "shift",
                          (json_int_t)e->seen->shift, "right", (json_int_t)s->right, "accuracy", s->accuracy,
                          "standard_error", s->standard_error, "interval", s->low, s->high, "most_frequent",
                          weights_file_class(e->notes, s->common, number), "most_frequent_share", s->common_share,
                          "classes", classes, "confusion", confusion, "mistakes", mistakes);
    const bool good = o && json_dumpf(o, stdout, ROW_FORMAT) == 0 && putchar('\n') != EOF;
    json_decref(o);
    return good;
}
