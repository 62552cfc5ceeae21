/*
 * temporary.h - files that appear whole or not at all: written beside the one whose place they take, under a name of
 * their own. Such a file is locked until it has that place, so that what a process that was killed has left can be told
 * from what another one is writing.
 */
#ifndef GRADUS_TEMPORARY_H
#define GRADUS_TEMPORARY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GR_TEMPORARY_NAME = 4096 };

typedef struct {
    int fd;                       /* to write to, and the caller's to close; the lock outlives it */
    int lock;                     /* another descriptor of it, for the lock */
    char name[GR_TEMPORARY_NAME]; /* PATH.tmp.PROCESS-NUMBER; "" when there is no such file */
} gr_temporary;

/*
 * Makes one beside path, new and through no link: whoever may write in the folder could have planted one. It gets the
 * mode of the file at path. First those of the same path go that nobody has a lock on. False: errno tells why.
 */
bool gr_temporary_open(gr_temporary *t, const char *path);

/* Puts it in path's place, when all is written and synced. False: errno tells why, and it is gone. */
bool gr_temporary_keep(gr_temporary *t, const char *path);

/* Takes it away, if there is one. errno stays. */
void gr_temporary_drop(gr_temporary *t);

#ifdef __cplusplus
}
#endif
#endif
