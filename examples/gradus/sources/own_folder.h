/* own_folder.h - pictures of one's own: a folder of class folders, or of the folders train, val and test with such. */
#ifndef GRADUS_OWN_FOLDER_H
#define GRADUS_OWN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of a part ("train", "val", "test") in one that brings its own, into path. False: there is none. */
bool own_folder_part(const char *root, const char *part, char *path, size_t size);

/* Whether a folder brings its own parts. */
bool own_folder_has_parts(const char *root);

#endif
