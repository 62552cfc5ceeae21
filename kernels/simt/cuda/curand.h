/*
 * curand.h - cuRAND for the host: generators that fill arrays, of the device (curandCreateGenerator) or of the host.
 * There is XORWOW, the default: 4096 subsequences that take turns, as cuRAND has them.
 */
#ifndef GRADUS_CUDA_CURAND_H
#define GRADUS_CUDA_CURAND_H

#include "kernels/simt/cuda/cuda_runtime_api.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CURAND_VERSION 10300

typedef enum curandStatus {
    CURAND_STATUS_SUCCESS = 0,
    CURAND_STATUS_VERSION_MISMATCH = 100,
    CURAND_STATUS_NOT_INITIALIZED = 101,
    CURAND_STATUS_ALLOCATION_FAILED = 102,
    CURAND_STATUS_TYPE_ERROR = 103,
    CURAND_STATUS_OUT_OF_RANGE = 104,
    CURAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
    CURAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
    CURAND_STATUS_LAUNCH_FAILURE = 201,
    CURAND_STATUS_PREEXISTING_FAILURE = 202,
    CURAND_STATUS_INITIALIZATION_FAILED = 203,
    CURAND_STATUS_ARCH_MISMATCH = 204,
    CURAND_STATUS_INTERNAL_ERROR = 999
} curandStatus_t;
typedef curandStatus_t curandStatus;

typedef enum curandRngType { CURAND_RNG_PSEUDO_DEFAULT = 100, CURAND_RNG_PSEUDO_XORWOW = 101 } curandRngType_t;
typedef enum curandOrdering {
    CURAND_ORDERING_PSEUDO_BEST = 100,
    CURAND_ORDERING_PSEUDO_DEFAULT = 101,
    CURAND_ORDERING_PSEUDO_LEGACY = 103
} curandOrdering_t;

typedef struct curandGenerator_st *curandGenerator_t;

curandStatus_t curandCreateGenerator(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandCreateGeneratorHost(curandGenerator_t *generator, curandRngType_t type);
curandStatus_t curandDestroyGenerator(curandGenerator_t generator);
curandStatus_t curandGetVersion(int *version);
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator, unsigned long long seed);
curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator, unsigned long long offset);
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator, curandOrdering_t order);
curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream);
curandStatus_t curandGenerateSeeds(curandGenerator_t generator);

/* n numbers; for the normal ones, which are made in pairs, n is even. */
curandStatus_t curandGenerate(curandGenerator_t generator, unsigned *out, size_t n);
curandStatus_t curandGenerateUniform(curandGenerator_t generator, float *out, size_t n);
curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double *out, size_t n);
curandStatus_t curandGenerateNormal(curandGenerator_t generator, float *out, size_t n, float mean, float deviation);
curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double *out, size_t n, double mean,
                                          double deviation);
curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float *out, size_t n, float mean, float deviation);
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator, double *out, size_t n, double mean,
                                             double deviation);

#ifdef __cplusplus
}
#endif

#endif
