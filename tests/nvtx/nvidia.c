/* nvidia.c - NVIDIA's own header in place of core/nvtx.c: what stands in for a tool must serve it, too. */
#include <nvtx3/nvToolsExt.h>

int main(void)
{
    nvtxRangePushA("outer");
    nvtxRangePushA("inner");
    nvtxRangePop();
    nvtxRangePop();
    return 0;
}
