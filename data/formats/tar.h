/*
 * tar.h - reads the files of a tar archive one after the other, compressed by gzip or not, unpacking it nowhere.
 *
 * Strict: every header's check sum is verified, and gzip's at the end. Knows the ustar, GNU and pax formats as far as
 * regular files with short names need; links, devices and the like are passed over.
 */
#ifndef GRADUS_TAR_H
#define GRADUS_TAR_H

#include <stdbool.h>
#include <stdint.h>

enum { GR__TAR_NAME = 257 };

typedef struct gr_tar gr_tar;

/* NULL: the file cannot be opened (errno says why). */
gr_tar *gr__tar_open(const char *path);
void gr__tar_close(gr_tar *tar); /* NULL is fine */

/*
 * Goes on to the next regular file: its name and size in bytes. Returns 1; 0 at the end of a whole archive; -1 when the
 * archive is broken, and gr__tar_fault says how.
 */
int gr__tar_next(gr_tar *tar, char name[GR__TAR_NAME], int64_t *size);

/*
 * Goes on to the next member of any kind; type is that of its header: '0' a regular file, '5' a folder, '2' a link, ...
 */
int gr__tar_step(gr_tar *tar, char name[GR__TAR_NAME], int64_t *size, char *type);

/* Reads n bytes of the current file into p. False: it has fewer, or the archive is broken. */
bool gr__tar_read(gr_tar *tar, void *p, int64_t n);

bool gr__tar_plain(const gr_tar *tar);   /* not compressed */
int64_t gr__tar_tell(const gr_tar *tar); /* bytes of the unpacked archive that have been read */

const char *gr__tar_fault(const gr_tar *tar); /* "" when all is well. Owned by tar. */
int gr__tar_error(const gr_tar *tar); /* errno of what the system has failed to do; 0: the archive is at fault */

#endif
