/* text.h - what the files of nn/text share: words with their places, and the layers that they make. */
#ifndef GRADUS_MODEL_TEXT_H
#define GRADUS_MODEL_TEXT_H

#include "nn/module.h"

enum {
    GR__TEXT_BYTES = 65536, /* limits of a text; a ResNet-18 has 2,000 bytes, 70 layers and 2 levels */
    GR__TEXT_LAYERS = 1000,
    GR__TEXT_LEVELS = 4, /* of braces */
    GR__WORD_SIZE = 32,
    GR__LINE_WORDS = 24,
    GR__MOST_WINDOW = 255,
    GR__NAME_SIZE = 16 /* of a layer, the final zero included */
};

typedef struct {
    char text[GR__WORD_SIZE];
    int column; /* from 1 */
} gr_word;

/* A line that says something: at least one word; braces are words. */
typedef struct {
    int number; /* from 1 */
    int n, at;  /* words, and the next of them */
    gr_word words[GR__LINE_WORDS];
} gr_line;

/* A text on its way to a model. */
typedef struct {
    gr_context *ctx;
    const char *name; /* of the file, for messages; the context's */
    const char *next; /* not yet read */
    int lines;        /* read so far */
    int classes;
    int layers; /* made so far */
    gr_line line;
} gr_text;

/* Takes the next line that says something. False: there is none, or recorded. */
bool gr__text_line(gr_text *t);

/* The next word of the line, which is taken; NULL: there is none. */
const gr_word *gr__text_word(gr_text *t);
bool gr__text_is_next(const gr_text *t, const char *word);

/* Records "NAME:LINE:COLUMN: message" as bad data; word NULL: behind the line's last word. Always false. */
bool gr__text_fail(gr_text *t, const gr_word *word, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Refuses words that are left on the line. False: recorded. */
bool gr__text_end(gr_text *t, const char *what);

/*
 * The next word as a whole number from least to most, as sides of a window ("3x3", "1x7" or "3"), as a number in
 * [0, most]. what: what it is, for messages. False: recorded.
 */
bool gr__text_count(gr_text *t, const char *what, int least, int most, int *n);
bool gr__text_window(gr_text *t, int window[2]);
bool gr__text_real(gr_text *t, const char *what, double most, double *x);

/* A list of layers that grows. */
typedef struct {
    gr_module **layers;
    int n, capacity;
} gr_layers;

/* Adds a layer, which stands at word of the line. False: recorded. */
bool gr__text_add(gr_text *t, gr_layers *list, gr_module *layer, const gr_word *word);

/* Makes the layers of the line, whose first word is taken: one, or two where an activation is named behind it. */
bool gr__text_layers(gr_text *t, const gr_word *kind, gr_layers *list);

/* A layer's name, which must be none that layers have without being named. NULL: recorded. */
const gr_word *gr__text_name(gr_text *t, const gr_layers *list);

#endif
