/*
 * process.h - programs that are run and listened to.
 */
#ifndef GRADUS_SIMT_PROCESS_H
#define GRADUS_SIMT_PROCESS_H

#include <stddef.h>

enum { GR__NO_PROGRAM = 127 };

/*
 * Runs word[0] with its words. out, err: where the text it writes is put, to be freed, a NUL behind it; NULL: it goes
 * where ours goes. Returns its exit code, 128 + N when signal N ended it, GR__NO_PROGRAM when it is not there.
 */
int gr__process(char **word, char **out, size_t *out_length, char **err, size_t *err_length);

#endif
