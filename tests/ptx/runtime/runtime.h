/*
 * runtime.h - what the files of this folder share: they answer the functions of the CUDA runtime that Gradus calls, on
 * the interpreter. One lock is held in each of them.
 */
#ifndef GRADUS_PTX_RUNTIME_H
#define GRADUS_PTX_RUNTIME_H

#include <cuda_runtime_api.h>

#include <functional>
#include <mutex>
#include <string>

namespace ptx
{
struct program;

std::unique_lock<std::recursive_mutex> lock();

/* Keeps an error for cudaGetLastError, and gives it. A fault of a kernel stays for ever, as on a GPU. */
cudaError_t said(cudaError_t error);
/* The kernel that broke a rule is told on stderr; nothing runs afterwards. */
void failed(const std::string &words);
cudaError_t broken_error();

/* The device that the calling thread's calls are about. */
int current_device();
/* The device on which a stream was made; of the standard stream, which every device has, the calling thread's. */
int device_of(cudaStream_t stream);

/* The kernel behind a function of the host, decoded; NULL: unknown, and *why tells. */
program *kernel_of(const void *host, std::string *why);

/* f is done in the order of the stream: when somebody waits for it, at once, or when it is captured, by each replay. */
void enqueue(cudaStream_t stream, std::function<void()> f);
/* All that was asked of every stream is done. */
void finish_all();
/* Whether p begins in memory that cudaMallocHost gave. */
bool is_pinned(const void *p);
} // namespace ptx

#endif
