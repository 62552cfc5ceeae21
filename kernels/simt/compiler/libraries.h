/* libraries.h - libraries of CUDA that are not here. */
#ifndef GRADUS_SIMT_LIBRARIES_H
#define GRADUS_SIMT_LIBRARIES_H

#include <stdbool.h>

/*
 * Whether a source includes <thrust/...> and the like, each complained of with its line: so a machine with CUDA's
 * headers says the same as one without.
 */
bool gr__asks_for_libraries(const char *file);

#endif
