/* words.h - words for a command line. */
#ifndef GRADUS_SIMT_WORDS_H
#define GRADUS_SIMT_WORDS_H

/* Ended by NULL; all allocated. */
typedef struct {
    char **word;
    int count, room;
} gr__words;

/* Without memory the program ends: a few words do not fit, so nothing could be said. */
void gr__words_add(gr__words *w, const char *word);
void gr__words_add_all(gr__words *w, const gr__words *from);
void gr__words_free(gr__words *w);

#endif
