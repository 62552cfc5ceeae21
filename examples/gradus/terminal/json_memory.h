/*
 * json_memory.h - whether the JSON library has had all the memory it asked for. Rows and tables are put together by
 * hundreds of its calls; where one of them failed something is missing, and what is printed is no result.
 */
#ifndef GRADUS_JSON_MEMORY_H
#define GRADUS_JSON_MEMORY_H

#include <stdbool.h>

void json_memory_watch(void); /* before the first of its calls */
bool json_memory_failed(void);

#endif
