/* gather.c - reference: y[n] = x[index[n]], or zeros. */
#include <string.h>

#include "kernels/ref/ref.h"

void GR_REF(gather_forward)(const gr_call *call)
{
    const int64_t M = call->in[0]->shape[0], N = call->in[1]->shape[0], bytes = call->in[0]->count / M;
    const uint8_t *x = gr__u8(call->in[0]);      /* [M,H,W,C] */
    const int32_t *index = gr__i32(call->in[1]); /* [N] */
    uint8_t *y = gr__u8(call->out[0]);           /* [N,H,W,C] */
    for (int64_t n = 0; n < N; n++) {
        if (index[n] >= 0 && index[n] < M)
            memcpy(y + n * bytes, x + index[n] * bytes, (size_t)bytes);
        else
            memset(y + n * bytes, 0, (size_t)bytes);
    }
}
