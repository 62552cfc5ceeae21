#pragma once
__host__ __device__ inline float saturate_like(float x) { return x > 1 ? 1 : x; }
