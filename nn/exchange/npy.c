/*
 * npy.c - an .npy file: magic, version, length of the header; the header, one Python dictionary of three keys in any
 * order, padded with spaces to a line's end; the elements.
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (32, 3), }
 *
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 */
#include <stdlib.h>
#include <string.h>

#include "nn/exchange/exchange.h"

enum { DESCR, ORDER, SHAPE, KEYS, WORD = 16, MAGIC = 8, MOST_DIGITS = 18 };

/* What is left of the header. */
typedef struct {
    const char *at, *end;
} header;

static const char not_a_dictionary[] = "its header is not a dictionary of descr, fortran_order and shape";

static bool take(header *h, char c)
{
    while (h->at < h->end && *h->at == ' ')
        h->at++;
    if (h->at == h->end || *h->at != c)
        return false;
    h->at++;
    return true;
}

/* A string of at most WORD - 1 characters in either kind of quotes. */
static bool take_string(header *h, char text[WORD])
{
    const char quote = take(h, '\'') ? '\'' : '"';
    size_t n = 0;
    if (quote == '"' && !take(h, '"'))
        return false;
    while (h->at < h->end && *h->at != quote && *h->at != '\\' && n < WORD - 1)
        text[n++] = *h->at++;
    text[n] = '\0';
    return h->at < h->end && *h->at++ == quote;
}

/* True or False. */
static bool take_truth(header *h, bool *value)
{
    take(h, ' ');
    static const char *const words[] = {"False", "True"};
    for (int i = 0; i < 2; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(h->end - h->at) >= n && memcmp(h->at, words[i], n) == 0) {
            h->at += n;
            *value = i;
            return true;
        }
    }
    return false;
}

/* A whole number that is not negative; Python 2 wrote an L behind it. */
static bool take_size(header *h, int64_t *size)
{
    int digits = 0;
    *size = 0;
    take(h, ' ');
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9' && digits < MOST_DIGITS; digits++)
        *size = 10 * *size + (*h->at++ - '0');
    if (h->at < h->end && *h->at == 'L')
        h->at++;
    return digits > 0;
}

/* (), (3,) or (3, 4). Returns the rule that it breaks; NULL: none. */
static const char *read_shape(header *h, gr_saved_tensor *t)
{
    static const char none[] = "its shape is not a tuple of whole numbers";
    bool comma = true;
    if (!take(h, '('))
        return none;
    for (t->ndim = 0; !take(h, ')'); t->ndim++) {
        if (t->ndim == GR_MAX_DIMS)
            return "its shape has more than 4 sizes";
        if (!comma || !take_size(h, &t->shape[t->ndim]))
            return none;
        comma = take(h, ',');
    }
    return t->ndim == 1 && !comma ? none : NULL;
}

static const char *read_type(header *h, gr_saved_tensor *t)
{
    static const struct {
        const char *descr;
        gr_type type;
    } types[] = {{"<f4", GR_F32}, {"<f8", GR_F64}, {"<f2", GR_F16}, {"|u1", GR_U8}, {"<i4", GR_I32}, {"<i8", GR_I64}};
    char text[WORD];
    if (!take_string(h, text))
        return "its elements are no plain numbers";
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(text, types[i].descr) == 0) {
            t->type = types[i].type;
            return NULL;
        }
    return strcmp(text, "|O") == 0 ? "it holds Python's objects, which are never loaded: that would run what is in them"
           : *text == '>'          ? "its numbers have their highest byte first; save them as '<f4'"
                                   : "its type is not one of <f2 <f4 <f8 |u1 <i4 <i8";
}

/* Returns the rule that the dictionary breaks; NULL: none. */
static const char *read_dictionary(header *h, gr_saved_tensor *t, bool *fortran)
{
    static const char *const keys[KEYS] = {[DESCR] = "descr", [ORDER] = "fortran_order", [SHAPE] = "shape"};
    bool seen[KEYS] = {false};
    bool comma = true;
    if (!take(h, '{'))
        return not_a_dictionary;
    while (!take(h, '}')) {
        char text[WORD];
        int key = 0;
        if (!comma || !take_string(h, text) || !take(h, ':'))
            return not_a_dictionary;
        while (key < KEYS && strcmp(text, keys[key]) != 0)
            key++;
        if (key == KEYS || seen[key])
            return not_a_dictionary;
        seen[key] = true;
        const char *rule = key == DESCR   ? read_type(h, t)
                           : key == SHAPE ? read_shape(h, t)
                                          : (take_truth(h, fortran) ? NULL : "its fortran_order is not True or False");
        if (rule)
            return rule;
        comma = take(h, ',');
    }
    return seen[DESCR] && seen[ORDER] && seen[SHAPE] ? NULL : not_a_dictionary;
}

/* Whether nothing but padding and one line end is left. */
static bool at_end(header *h)
{
    return take(h, '\n') && h->at == h->end;
}

static const char *check_size(const gr_saved_tensor *t, size_t size)
{
    int64_t bytes = (int64_t)gr_type_size(t->type);
    for (int d = 0; d < t->ndim; d++)
        if (__builtin_mul_overflow(bytes, t->shape[d], &bytes))
            return "its shape is too large";
    return (uint64_t)bytes == size ? NULL : "its data are not as long as its shape and its type say";
}

/* Elements whose first index runs fastest, to the order in which the last does. False: no memory. */
static bool turn(char *data, const gr_saved_tensor *t, size_t bytes)
{
    const size_t size = gr_type_size(t->type);
    char *turned = malloc(bytes ? bytes : 1);
    int64_t index[GR_MAX_DIMS] = {0};
    for (size_t to = 0; turned && to < bytes; to += size) {
        int64_t from = 0;
        for (int d = t->ndim; d-- > 0;)
            from = from * t->shape[d] + index[d];
        memcpy(turned + to, data + (size_t)from * size, size);
        for (int d = t->ndim; d-- > 0 && ++index[d] == t->shape[d];)
            index[d] = 0;
    }
    if (turned)
        memcpy(data, turned, bytes);
    free(turned);
    return turned;
}

const char *gr__npy_read(gr_context *ctx, char *bytes, size_t size, gr_saved_tensor *t)
{
    bool fortran = false;
    if (size < MAGIC + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return "it is no .npy file";
    const unsigned char *p = (const unsigned char *)bytes;
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return "it is of a version of .npy that is not 1.0, 2.0 or 3.0";
    const int wide = p[6] == 1 ? 2 : 4; /* bytes of the header's length */
    const size_t begin = MAGIC + (size_t)wide;
    size_t length = 0;
    for (int i = wide; size >= begin && i-- > 0;)
        length = length << 8 | p[MAGIC + i];
    if (size < begin || length > size - begin)
        return "it is shorter than its own header";
    header h = {bytes + begin, bytes + begin + length};
    const char *rule = read_dictionary(&h, t, &fortran);
    if (!rule && !at_end(&h))
        rule = "something stands behind its header's dictionary";
    const size_t left = size - begin - length;
    if (!rule)
        rule = check_size(t, left);
    t->data = bytes + begin + length;
    if (!rule && fortran && t->ndim > 1 && !turn(bytes + begin + length, t, left))
        gr__fail(ctx, GR_NO_MEMORY, "out of host memory for turning an array of %zu bytes", left);
    return rule;
}
