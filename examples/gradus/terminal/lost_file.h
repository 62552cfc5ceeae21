/*
 * lost_file.h - archives and packed sets are mapped. Where one of them becomes shorter while it is read, or its disk
 * fails, the system has no bytes to give and sends SIGBUS: from now on the program then names the file and ends with
 * GR_IO_ERROR.
 */
#ifndef GRADUS_LOST_FILE_H
#define GRADUS_LOST_FILE_H

void lost_file_catch(void);

#endif
