/*
 * page.h - pages of HTML that a browser opens from disk: a template that is compiled in (cmake/one_page.cmake), with
 * data in it.
 */
#ifndef GRADUS_PAGE_H
#define GRADUS_PAGE_H

#include <jansson.h>

#include "terminal/complain.h"

/*
 * Writes the page to path with data in place of its "@DATA@", in which nothing ends a script. Returns 0, GR_IO_ERROR or
 * GR_NO_MEMORY, complained of.
 */
int page_write(const char *path, const unsigned char *page, const json_t *data, const char *command);

#endif
