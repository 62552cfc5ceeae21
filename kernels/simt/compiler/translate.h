/*
 * translate.h - from CUDA C to C++: the few spellings that no header can give a meaning are rewritten in preprocessed
 * text. Lines stay where they are, so that compilers, debuggers and reports speak of the writer's lines.
 *
 *   kernel<T><<<grid, block>>>(x)        gr__launch_by(gr__configure("kernel<T>", grid, block), [=](...) { ... })(x)
 *   by_reference<<<1, 1>>>(*x)           gr__launch_at<1u>(...)(*x): __global__ void by_reference(T &x)
 *   __shared__ float tile[8][8];         a reference to the block's instance
 *   extern __shared__ float all[];       a pointer to the launch's dynamic shared memory
 *   __global__, __device__, __host__     nothing
 *   __noinline__                         __attribute__((noinline))
 */
#ifndef GRADUS_SIMT_TRANSLATE_H
#define GRADUS_SIMT_TRANSLATE_H

#include <stddef.h>

/*
 * text[length]: the output of g++ -E, with its line markers. Returns the C++ text, to be freed, its length in *out; or
 * NULL, with what is wrong ("FILE:LINE: ...") in message[room]. Text of system headers is left as it is.
 */
char *gr__simt_translate(const char *text, size_t length, size_t *out, char *message, size_t room);

#endif
