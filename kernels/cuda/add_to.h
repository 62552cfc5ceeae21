/* add_to.h - dst[count] += src[count], queued. For C and C++; no header of CUDA. */
#ifndef GRADUS_ADD_TO_H
#define GRADUS_ADD_TO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void gr__cuda_add_to(float *dst, const float *src, int64_t count, void *queue);
void gr__simt_add_to(float *dst, const float *src, int64_t count, void *queue);

#ifdef __cplusplus
}
#endif
#endif
