/*
 * weights.cuh - weights that a step changes, and beside them their copy in halves H, where the call has one
 * (gr_call.copy): what is stored in the one is rounded into the other, as cast.cuh would, without being read again.
 * H float: there is no copy.
 */
#ifndef GRADUS_WEIGHTS_CUH
#define GRADUS_WEIGHTS_CUH

#include "kernels/cuda/quad.cuh"

template <class H> struct weights {
    float *at;
    H *copy; /* NULL: there is none */
};

/* Writes the first inside of the weights i to i + 3, and to the copy; whole: as for quad_put. */
template <class H> GR_DEVICE void weights_put(const weights<H> *w, int64_t i, int64_t inside, bool whole, quad v)
{
    quad_put(w->at + i, inside, whole, v);
    if constexpr (sizeof(H) < sizeof(float)) {
        if (w->copy)
            quad_put(w->copy + i, inside, whole, v);
    }
}

/* The same of w[count], i a multiple of 4. */
template <class H> GR_DEVICE void weights_store(const weights<H> *w, int64_t i, int64_t count, quad v)
{
    weights_put(w, i, count - i, i + QUAD <= count, v);
}

/* --- for the host ------------------------------------------------------------------------------------------------- */

template <class H> static inline weights<H> weights_of(const gr_call *call, int slot)
{
    return {gr__f32(call->in[slot]), elements<H>(call->copy)};
}

/* The entry point of a step: function<H>(call) for the H of the call's copy. */
#define FORWARD_OF_COPY(name, function)                          \
    extern "C" void GR_CUDA(name##_forward)(const gr_call *call) \
    {                                                            \
        if (call->copy)                                          \
            FOR_ELEMENTS_OF(call->copy, function, call);         \
        else                                                     \
            function<float>(call);                               \
    }

#endif
