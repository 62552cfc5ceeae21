/* The host's code uses the C++ library: atomics, threads, virtual functions; so does a kernel. */
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

struct Shape {
    __host__ __device__ virtual int area() const
    {
        return 1;
    }
};
struct Square : Shape {
    int side;
    __host__ __device__ explicit Square(int s) : side(s)
    {
    }
    __host__ __device__ int area() const override
    {
        return side * side;
    }
};
static __device__ __noinline__ int area_of(const Shape &s)
{
    return s.area();
}

__global__ void areas(int *y)
{
    const Square s(static_cast<int>(threadIdx.x));
    y[threadIdx.x] = area_of(s);
}

static int on_the_device()
{
    int *y, host[32];
    cudaMalloc(&y, sizeof host);
    areas<<<1, 32>>>(y);
    cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(y);
    return host[5];
}

int main()
{
    std::atomic<int> n{0};
    std::atomic<bool> done{false};
    std::thread other([&] {
        for (int i = 0; i < 200; i++)
            n += 2;
        done = true;
    });
    other.join();
    std::atomic_thread_fence(std::memory_order_seq_cst);
    for (int seen = n; !n.compare_exchange_weak(seen, seen + 7);)
        continue;
    const std::unique_ptr<Shape> shape = std::make_unique<Square>(1);
    const std::shared_ptr<Shape> shared = std::make_shared<Square>(1);
    const std::function<int(int)> next = [](int x) { return x + 1; };
    const char *said = "";
    try {
        throw std::runtime_error("thrown");
    } catch (const std::exception &) {
        said = "thrown";
    }
    printf("%d %d %d %s %d\n", n.load() * done, shape->area() + shared->area(), next(2), said, on_the_device());
}
