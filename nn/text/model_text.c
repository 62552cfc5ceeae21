/*
 * model_text.c - a model from its text, a line a layer:
 *
 *   conv 32 3x3 same relu        # two layers: the convolution and its ReLU
 *   pool 2
 *   residual {
 *       conv 32 3x3 same no_bias
 *       batch_norm
 *   } shortcut {                 # may be left out: the block's input itself
 *       conv 32 1x1
 *   }
 *   group head {                 # a part with a name of its own: head.0.weight
 *       flatten
 *       dense classes
 *   }
 *
 * docs/models.md says what each line may hold.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nn/text/text.h"

/* --- lists of layers ---------------------------------------------------------------------------------------------- */

static void set_origin(gr_module *m, const gr_text *t, int line, int column)
{
    m->origin = (gr_origin){.file = t->name, .line = line, .column = column};
}

static bool read_lists(gr_text *t, int level, size_t path, gr_layers *list);

/*
 * A sequential of the lines up to a closing brace, which is taken; of level 0, up to the end. path: characters of the
 * name that its layers' names begin with. NULL: recorded.
 */
static gr_module *read_list(gr_text *t, int level, size_t path)
{
    gr_layers list = {0};
    gr_module *whole = read_lists(t, level, path, &list) ? gr__sequential_of(t->ctx, list.n, list.layers) : NULL;
    free(list.layers);
    return whole;
}

/* --- braces ------------------------------------------------------------------------------------------------------- */

/* The brace that opens a list within a list. False: recorded. */
static bool open_brace(gr_text *t, const char *what, int level, size_t path)
{
    enum { MOST = sizeof((gr_module *)0)->name - 2 - GR__NAME_SIZE };
    const gr_word *brace = gr__text_word(t);
    if (!brace || strcmp(brace->text, "{") != 0)
        return gr__text_fail(t, brace, "%s is followed by { and its layers, a line each", what);
    if (level >= GR__TEXT_LEVELS)
        return gr__text_fail(t, brace, "more than %d braces within each other", GR__TEXT_LEVELS);
    if (path > MOST)
        return gr__text_fail(t, brace, "the names of layers get too long here; take shorter ones or fewer levels");
    return gr__text_end(t, "{");
}

/* group NAME { ... */
static gr_module *read_group(gr_text *t, int level, size_t path, const gr_layers *list)
{
    char name[GR__WORD_SIZE];
    const gr_word *w = gr__text_name(t, list);
    if (!w)
        return NULL;
    memcpy(name, w->text, sizeof name);
    path += strlen(name) + 1;
    gr_module *group = open_brace(t, "group NAME", level, path) ? read_list(t, level + 1, path) : NULL;
    return group && gr__text_end(t, "}") ? gr_named(group, name) : NULL;
}

/* residual { ... } or residual { ... } shortcut { ... } */
static gr_module *read_residual(gr_text *t, int level, size_t path)
{
    path += strlen("block1000.");
    gr_module *body = open_brace(t, "residual", level, path) ? read_list(t, level + 1, path) : NULL;
    if (!body)
        return NULL;
    if (!gr__text_is_next(t, "shortcut"))
        return gr__text_end(t, "}") ? gr_residual(t->ctx, body, NULL) : NULL;
    gr__text_word(t);
    path += strlen("downsample.");
    gr_module *shortcut = open_brace(t, "shortcut", level, path) ? read_list(t, level + 1, path) : NULL;
    return shortcut && gr__text_end(t, "}") ? gr_residual(t->ctx, body, shortcut) : NULL;
}

/* A block of lines, whose first word is taken, into the list. False: recorded. */
static bool read_block(gr_text *t, const gr_word *kind, int level, size_t path, gr_layers *list)
{
    const int line = t->line.number;
    const gr_word word = *kind;
    const bool residual = strcmp(word.text, "residual") == 0;
    gr_module *block = residual ? read_residual(t, level, path) : read_group(t, level, path, list);
    if (block)
        set_origin(block, t, line, word.column);
    return gr__text_add(t, list, block, &word);
}

static bool is_block(const gr_word *w)
{
    return strcmp(w->text, "residual") == 0 || strcmp(w->text, "group") == 0;
}

static bool read_lists(gr_text *t, int level, size_t path, gr_layers *list)
{
    const int opened = t->line.number;
    const gr_word brace = t->line.n > 0 ? t->line.words[t->line.n - 1] : (gr_word){.column = 1};
    while (gr__text_line(t)) {
        const gr_word *w = gr__text_word(t);
        if (strcmp(w->text, "}") == 0) {
            if (level == 0)
                return gr__text_fail(t, w, "a } that closes nothing");
            return list->n > 0 || gr__text_fail(t, w, "no layers between { and }");
        }
        if (!(is_block(w) ? read_block(t, w, level, path, list) : gr__text_layers(t, w, list)))
            return false;
    }
    t->line.number = level > 0 ? opened : t->line.number; /* what is missing is told where it began */
    if (gr_ok(t->ctx) && level > 0)
        return gr__text_fail(t, &brace, "this { is not closed; a line } ends it");
    t->line.number += t->line.number == 0; /* of an empty text, too */
    if (gr_ok(t->ctx) && list->n == 0)
        return gr__text_fail(t, &(gr_word){.column = 1}, "no layers; give one a line, such as dense classes");
    return gr_ok(t->ctx);
}

/* --- the public functions ----------------------------------------------------------------------------------------- */

gr_module *gr_model_from_text(gr_context *ctx, const char *name, const char *text, int classes)
{
    if (!gr_ok(ctx))
        return NULL;
    if (!name || !text || classes < 1) {
        gr__fail(ctx, GR_USAGE, "gr_model_from_text: classes is %d; it wants a name, a text and at least 1 class",
                 classes);
        return NULL;
    }
    gr_text t = {.ctx = ctx, .name = gr__keep_text(ctx, name), .next = gr__keep_text(ctx, text), .classes = classes};
    const char *kept = t.next;
    if (!t.name || !t.next)
        return NULL;
    t.line.number = 1; /* where the whole is complained of */
    if (strlen(text) > GR__TEXT_BYTES) {
        gr__text_fail(&t, &(gr_word){.column = 1}, "the text has %zu bytes; at most %d are a model", strlen(text),
                      GR__TEXT_BYTES);
        return NULL;
    }
    gr_module *net = read_list(&t, 0, 0);
    if (net) {
        net->text = kept;
        net->classes = classes;
        set_origin(net, &t, t.lines, 1);
    }
    return net;
}

/* Reads a file of at most size - 1 bytes. How many there are, one more where there are more; -1: recorded. */
static ssize_t read_file(gr_context *ctx, const char *path, char *text, size_t size)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO nobody writes to must not hold us up */
    if (fd < 0) {
        gr__fail(ctx, gr__is_paths_fault(errno) ? GR_BAD_DATA : gr__io_code(errno), "model %s: %s", path,
                 strerror(errno));
        return -1;
    }
    ssize_t n = 0, more = 1;
    if (fstat(fd, &status) != 0) {
        more = -1;
    } else if (!S_ISREG(status.st_mode)) {
        gr__fail(ctx, GR_BAD_DATA, "model %s: it is no regular file", path);
        n = -1;
    }
    while (n >= 0 && more > 0 && (size_t)n < size)
        if ((more = read(fd, text + n, size - (size_t)n)) >= 0)
            n += more;
    if (more < 0) {
        gr__fail(ctx, gr__io_code(errno), "model %s cannot be read: %s", path, strerror(errno));
        n = -1;
    }
    close(fd);
    return n;
}

gr_module *gr_model_from_file(gr_context *ctx, const char *path, int classes)
{
    enum { SIZE = GR__TEXT_BYTES + 1 };
    char *text = path ? gr__calloc(ctx, SIZE + 1, 1) : NULL;
    if (gr_ok(ctx) && !path)
        gr__fail(ctx, GR_USAGE, "gr_model_from_file: path is NULL");
    const ssize_t n = text ? read_file(ctx, path, text, SIZE) : -1;
    if (n == SIZE)
        gr__fail(ctx, GR_BAD_DATA, "%s:1:1: the file has more than %d bytes, which is no model", path, GR__TEXT_BYTES);
    else if (n >= 0 && strlen(text) < (size_t)n)
        gr__fail(ctx, GR_BAD_DATA, "%s: a zero byte behind %zu others; a model is plain text", path, strlen(text));
    gr_module *net = n >= 0 ? gr_model_from_text(ctx, path, text, classes) : NULL;
    free(text);
    return net;
}
