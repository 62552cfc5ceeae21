/*
 * notation.h - the words of ops.def, for those who include it for more than names; and rows, the one way in which the
 * operation table (tests/table/rows.def) and gradus bench write a call down:
 *
 *   conv2d x[2,5,6,3] w[4,3,3,3] b[4] same relu
 *
 * A word is NAME or NAME[NUMBER,...]: a slot with its shape, a field of the operation's args by the WORDS of its entry,
 * or what only the reader of the row knows. N is the batch size, where the reader has one.
 */
#ifndef GRADUS_NOTATION_H
#define GRADUS_NOTATION_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/ops/kernels.h"

/* --- for the tables that are made of ops.def ---------------------------------------------------------------------- */

/* What stands in parentheses, in braces. */
#define GR_BRACES(...) \
    {                  \
        __VA_ARGS__    \
    }

/* How many slots stand in parentheses: a constant. */
#define GR_SLOTS(slots) ((int)(sizeof((gr_slot[])GR_BRACES slots) / sizeof(gr_slot)))

/* --- words -------------------------------------------------------------------------------------------------------- */

/* What a field of args holds. */
typedef enum { GR_FIELD_BOOL, GR_FIELD_INT, GR_FIELD_INT64, GR_FIELD_FLOAT, GR_FIELD_DOUBLE, GR_FIELD_WINDOW } gr_field;

/* A word of an operation's rows and the field that it sets. */
typedef struct {
    const char *name; /* of a window the prefix of its words: stride[rows,columns], same, pad[top,bottom,left,right] */
    gr_field field;
    size_t offset, size; /* of the field in bytes */
    int value;           /* of a word without numbers */
} gr_word_rule;

#define GR_FIELD_OF(member) \
    _Generic((((args_type *)0)->member),      \
        bool: GR_FIELD_BOOL,                  \
        int: GR_FIELD_INT,                    \
        unsigned: GR_FIELD_INT,               \
        int *: GR_FIELD_INT,                  \
        int64_t: GR_FIELD_INT64,              \
        int64_t *: GR_FIELD_INT64,            \
        float *: GR_FIELD_FLOAT,              \
        double: GR_FIELD_DOUBLE)
#define GR_WORD(name, member, size, value)                                  \
    {                                                                       \
        name, GR_FIELD_OF(member), offsetof(args_type, member), size, value \
    }

/* In WORDS, of fields of the operation's args: a number, numbers or a flag; a flag that means a value; two numbers. */
#define WORD(name, member) GR_WORD(name, member, sizeof(((args_type *)0)->member), 1)
#define VALUE(name, member, value) GR_WORD(name, member, 0, value)
#define PAIR(name, first, second) \
    GR_WORD(name, first, offsetof(args_type, second) + sizeof(((args_type *)0)->second) - offsetof(args_type, first), 0)
#define WINDOW(prefix, member)                                     \
    {                                                              \
        prefix, GR_FIELD_WINDOW, offsetof(args_type, member), 0, 0 \
    }

enum { GR_MAX_WORDS = 12, GR_MAX_NUMBERS = 8 };

#define GR_OP(op, kind, inputs, outputs, formula, args, words, ...)      \
    static inline const gr_word_rule *gr__words_of_##op(void)            \
    {                                                                    \
        typedef args args_type;                                          \
        static const gr_word_rule rules[GR_MAX_WORDS] = GR_BRACES words; \
        (void)sizeof(args_type);                                         \
        return rules;                                                    \
    }
#include "kernels/ops/ops.def"

/* The words of an operation, ended by one whose name is NULL. */
static inline const gr_word_rule *gr__words(int op)
{
    static const gr_word_rule *(*const of[GR_OP_COUNT])(void) = {
#define GR_OP(op, ...) gr__words_of_##op,
#include "kernels/ops/ops.def"
    };
    return of[op]();
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* One word of a row. */
typedef struct {
    char name[32];
    int n;
    double numbers[GR_MAX_NUMBERS];
    bool batch; /* its first number is N */
} gr_word;

/* Reads the next word, N being batch, and moves *text behind it. False: the text is at its end, or *bad is set. */
static inline bool gr__word_next(const char **text, double batch, gr_word *w, bool *bad)
{
    const char *p = *text + strspn(*text, " ");
    const size_t length = strcspn(p, " [");
    *w = (gr_word){0};
    if (!length)
        return false;
    *bad = length >= sizeof w->name;
    memcpy(w->name, p, *bad ? 0 : length);
    p += length;
    while (!*bad && *p && strchr(w->n ? "," : "[", *p) && w->n < GR_MAX_NUMBERS) {
        const bool free = p[1] == 'N' && batch > 0;
        char *end = (char *)p + 2;
        w->batch |= free && !w->n;
        w->numbers[w->n++] = free ? batch : strtod(p + 1, &end);
        *bad = end == p + 1;
        p = end;
    }
    *bad |= w->n && *p++ != ']';
    *text = p;
    return !*bad;
}

/* How many numbers a field holds. */
static inline int gr__field_count(const gr_word_rule *rule)
{
    static const size_t size[] = {
        [GR_FIELD_BOOL] = sizeof(bool),   [GR_FIELD_INT] = sizeof(int),       [GR_FIELD_INT64] = sizeof(int64_t),
        [GR_FIELD_FLOAT] = sizeof(float), [GR_FIELD_DOUBLE] = sizeof(double), [GR_FIELD_WINDOW] = 1};
    return (int)(rule->size / size[rule->field]);
}

/* Sets number i of a field. */
static inline void gr__field_set(unsigned char *args, const gr_word_rule *rule, int i, double v)
{
    unsigned char *at = args + rule->offset;
    switch (rule->field) {
    case GR_FIELD_BOOL:
        ((bool *)(void *)at)[i] = v != 0;
        break;
    case GR_FIELD_INT:
        ((int *)(void *)at)[i] = (int)v;
        break;
    case GR_FIELD_INT64:
        ((int64_t *)(void *)at)[i] = (int64_t)v;
        break;
    case GR_FIELD_FLOAT:
        ((float *)(void *)at)[i] = (float)v;
        break;
    default:
        ((double *)(void *)at)[i] = v;
    }
}

/* A word of a window. False: it is none, or its numbers do not fit. */
static inline bool gr__window_set(gr_window *window, const char *name, const gr_word *w)
{
    int *const numbers = !strcmp(name, "stride") ? window->stride : window->pad;
    const int wanted = !strcmp(name, "stride") ? 2 : !strcmp(name, "pad") ? 4 : !strcmp(name, "same") ? 0 : -1;
    if (w->n != wanted)
        return false;
    for (int i = 0; i < w->n; i++)
        numbers[i] = (int)w->numbers[i];
    if (wanted != 2)
        window->padding = wanted ? GR_EXPLICIT : GR_SAME;
    return true;
}

/* A word of a field. False: its numbers do not fit. A flag has none; channels and dimensions may be fewer than 4. */
static inline bool gr__numbers_set(unsigned char *args, const gr_word_rule *rule, const gr_word *w)
{
    const int count = rule->field == GR_FIELD_BOOL ? 0 : gr__field_count(rule);
    if (!count)
        gr__field_set(args, rule, 0, rule->value);
    for (int i = 0; i < w->n && w->n <= count; i++)
        gr__field_set(args, rule, i, w->numbers[i]);
    return w->n == count || (w->n < count && count == 4);
}

/* Writes a word into an operation's args. False: the operation has no such word, or its numbers do not fit. */
static inline bool gr__word_set(int op, unsigned char *args, const gr_word *w)
{
    for (const gr_word_rule *rule = gr__words(op); rule->name; rule++) {
        const size_t prefix = strlen(rule->name);
        gr_window *window = (gr_window *)(void *)(args + rule->offset);
        if (rule->field != GR_FIELD_WINDOW && !strcmp(w->name, rule->name))
            return gr__numbers_set(args, rule, w);
        if (rule->field == GR_FIELD_WINDOW && !strncmp(w->name, rule->name, prefix) &&
            gr__window_set(window, w->name + prefix, w))
            return true;
    }
    return false;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* Dimensions of a shape that 0 ends. */
static inline int gr__dims(const int64_t *shape)
{
    int n = 0;
    while (n < GR_MAX_DIMS && shape[n])
        n++;
    return n;
}

#define GR_OP(op, kind, inputs, outputs, formula, args_type, words, calling, ...)                                 \
    static inline gr_tensor *gr__call_of_##op(gr_context *ctx, gr_tensor *const *in, gr_tensor *db, bool want_dx, \
                                              const void *options)                                                \
    {                                                                                                             \
        const args_type *args = options;                                                                          \
        (void)ctx, (void)db, (void)want_dx, (void)args;                                                           \
        return calling;                                                                                           \
    }
#include "kernels/ops/ops.def"

/*
 * Calls an operation's public function on its inputs, one for each slot, NULL where absent, with args of its type; db
 * and want_dx are those of gr_dense_update. Returns the result, of an UPDATE in[0]; NULL: ctx tells.
 */
static inline gr_tensor *gr__call_op(int op, gr_context *ctx, gr_tensor *const *in, gr_tensor *db, bool want_dx,
                                     const void *args)
{
    static gr_tensor *(*const of[GR_OP_COUNT])(gr_context *, gr_tensor *const *, gr_tensor *, bool, const void *) = {
#define GR_OP(op, ...) gr__call_of_##op,
#include "kernels/ops/ops.def"
    };
    return of[op](ctx, in, db, want_dx, args);
}

#endif
