/*
 * tokens.h - preprocessed C++ cut into tokens that know their file and line.
 */
#ifndef GRADUS_SIMT_TOKENS_H
#define GRADUS_SIMT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK, TOKEN_DIRECTIVE, TOKEN_END } token_kind;

typedef struct {
    token_kind kind;
    size_t begin, end;              /* in the text */
    size_t file_begin, file_length; /* its file's name in the text, with quotes and escapes */
    int line;
} token;

typedef struct {
    const char *text;
    size_t length;
    token *token; /* ends with one of kind TOKEN_END */
    int count;    /* without that */
} tokens;

/* False: memory is out. Text of system headers is left out; a directive is a line that begins with #. */
bool gr__tokens_open(tokens *t, const char *text, size_t length);
void gr__tokens_close(tokens *t);

/* Whether token i is spelt so; false beyond either end. */
bool gr__token_is(const tokens *t, int i, const char *spelling);

/* Whether it is one of some spellings, of which NULL is the last; whether two tokens are one word. */
bool gr__token_is_of(const tokens *t, int i, const char *const *spellings);
bool gr__token_same(const tokens *t, int a, int b);

/* From the opening ( [ { at i to its partner; t->count where there is none. And back. */
int gr__token_partner(const tokens *t, int i);
int gr__token_partner_back(const tokens *t, int i);

#endif
