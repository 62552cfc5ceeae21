/*
 * edit.h - a text under translation: its tokens, and the output so far. What is not rewritten is copied as it stands,
 * and the lines stay where they are.
 *
 *   text    ....... copied ....... | done      begin of what is rewritten
 *   out     ....... copied ....... | <- gr__edit_copy_until, then what stands in its place, then done moves behind it
 */
#ifndef GRADUS_SIMT_EDIT_H
#define GRADUS_SIMT_EDIT_H

#include "kernels/simt/compiler/tokens.h"

/* A kernel that takes references: its name's token, and a bit for each of its parameters. */
typedef struct {
    int name;
    unsigned references;
} gr__by_reference;

typedef struct {
    tokens t;
    char *out; /* stands for text[0 .. done) */
    size_t length, room;
    size_t done;
    bool out_of_memory; /* out stays as it was */
    bool failed;
    char *message; /* [message_room]: what is wrong, once it has failed */
    size_t message_room;
    char scope[512]; /* what each open brace belongs to: 'f' a function or something in one, 'o' other */
    int depth;
    int function;                /* where that is 'f': the { of the outermost function */
    gr__by_reference kernel[64]; /* kernels that take references, so far */
    int kernels;
    int looked_at[16]; /* the ) of calls that are open and whose value somebody looks at, the innermost last */
    int looks;
    int shared[64]; /* names of __shared__ variables outside of functions, so far */
    int shared_count;
} gr__edit;

/* Notes what is wrong at token at, the first time: "FILE:LINE: error: what". */
void gr__edit_fail(gr__edit *w, int at, const char *what);

/* Copies the text from done up to begin. */
void gr__edit_copy_until(gr__edit *w, size_t begin);

/* To the output: characters; a text; tokens first to end in one line, with spaces; these as a text of C. */
void gr__edit_append(gr__edit *w, const char *text, size_t length);
void gr__edit_text(gr__edit *w, const char *text);
void gr__edit_tokens(gr__edit *w, int first, int end);
void gr__edit_quoted(gr__edit *w, int first, int end);

/* The line feeds and directives of the text from begin to end: what keeps the lines where they are. */
void gr__edit_lines(gr__edit *w, size_t begin, size_t end);

/* Takes note of the kernel that the __global__ at i declares, if it takes references. */
void gr__edit_kernel(gr__edit *w, int i);

/* kernel<<<config>>>, i at <<<. Returns its last token. */
int gr__edit_launch(gr__edit *w, int i);

/* A declaration with __shared__ at i. Returns the ; that ends it. */
int gr__edit_shared(gr__edit *w, int i);

/* A word at i: rewritten where it names a __shared__ variable that is declared outside of functions. */
bool gr__edit_shared_use(gr__edit *w, int i);

#endif
