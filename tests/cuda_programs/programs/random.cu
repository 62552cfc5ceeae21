// Random numbers in kernels and for the host: prints "all right", or what is wrong. XORWOW's are what cuRAND of CUDA 13
// makes of these seeds; Philox's the known answers of Random123, and what cuRAND makes of a place in a sequence.
#include <curand_kernel.h> // brings curand.h
#include <math.h>
#include <stdio.h>

static int wrong;
#define EXPECT(what, is, should)                                                                                       \
    do {                                                                                                               \
        if (!((is) == (should)))                                                                                       \
            wrong++, printf("%s (line %d): %.17g, not %.17g\n", what, __LINE__, (double)(is), (double)(should));       \
    } while (0)
#define NEAR(what, is, should) EXPECT(what, fabs((is) - (should)) < 2e-6 * fabs(should), true)

struct first { unsigned bits[8]; float uniform; double uniform_double; float normal[3], log_normal[2], after; };

template <class State> __device__ void draw(first *out, unsigned long long seed, unsigned long long subsequence,
                                            unsigned long long offset)
{
    State s;
    curand_init(seed, subsequence, offset, &s);
    for (int i = 0; i < 6; i++)
        out->bits[i] = curand(&s);
    skipahead(5, &s), out->bits[6] = curand(&s);
    skipahead_sequence(3, &s), out->bits[7] = curand(&s);
    out->uniform = curand_uniform(&s), out->uniform_double = curand_uniform_double(&s);
    for (int i = 0; i < 3; i++)
        out->normal[i] = curand_normal(&s);
    for (int i = 0; i < 2; i++)
        out->log_normal[i] = curand_log_normal(&s, 1.0f, 0.5f);
    out->after = curand_normal(&s);
}
__global__ void draw_all(first *out)
{
    draw<curandState>(&out[0], 1234, 0, 0);
    draw<curandState>(&out[1], 1234, 5, 7);
    draw<curandState>(&out[2], 0x123456789abcdef0, 1ull << 33, 1ull << 40);
    draw<curandState>(&out[3], ~0ull, 1, 1000003);
    draw<curandStatePhilox4_32_10_t>(&out[4], 1234, 5, 7);
}
static const first known[] = {
    {{624778773, 1867875844, 3739671282, 1954919316, 3681184389, 2501467243, 2956985617, 1397353580}, 0.376586765f,
     0.37328405377632151, {0.5635803f, -0.7433754f, 0.1309943f}, {2.104526f, 3.058007f}, -0.4101332f},
    {{3351265907, 3629609298, 415430802, 1173093345, 689711927, 2227153417, 4142630027, 1934505283}, 0.856819332f,
     0.34872844884735216, {-1.275691f, -0.4491845f, 1.316416f}, {2.764135f, 0.9859629f}, -0.3795403f},
    {{474523929, 3229198783, 4172586797, 2405331476, 3639793259, 3263536678, 380772830, 1835946622}, 0.853485525f,
     0.37816470542492359, {1.05122f, -0.7595483f, -0.726725f}, {2.146156f, 2.510151f}, 0.2799344f},
    {{2104845954, 3759407466, 2148877915, 2773191232, 2779642674, 360845856, 1762144667, 1492615353}, 0.964771509f,
     0.64929363558632702, {-0.2807456f, -0.0745599f, 1.349912f}, {3.390543f, 2.719447f}, -1.349189f},
    {{1925342002, 648658203, 3633236749, 143597841, 3521664514, 3248267170, 591701816, 2079138696}, 0.223433211f,
     0.7202363156247884, {0.06243723f, -0.8672935f, -1.736022f}, {2.292495f, 6.110977f}, 0.07939854f},
};

static void draws()
{
    first *d, h[5];
    cudaMalloc(&d, sizeof h);
    draw_all<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 5; i++) {
        for (int k = 0; k < 8; k++)
            EXPECT("bits", h[i].bits[k], known[i].bits[k]);
        EXPECT("uniform", h[i].uniform, known[i].uniform);
        EXPECT("uniform double", h[i].uniform_double, known[i].uniform_double);
        for (int k = 0; k < 3; k++)
            NEAR("normal", h[i].normal[k], known[i].normal[k]);
        for (int k = 0; k < 2; k++)
            NEAR("log-normal", h[i].log_normal[k], known[i].log_normal[k]);
        NEAR("normal behind log-normal", h[i].after, known[i].after);
    }
    cudaFree(d);
}

/* kat_vectors of Random123, of philox4x32 with 10 rounds; and the counter's carry by curand4. */
__global__ void philox(uint4 *out)
{
    const unsigned all = ~0u;
    out[0] = curand_Philox4x32_10(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
    out[1] = curand_Philox4x32_10(make_uint4(all, all, all, all), make_uint2(all, all));
    out[2] = curand_Philox4x32_10(make_uint4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344),
                                  make_uint2(0xa4093822, 0x299f31d0));
    curandStatePhilox4_32_10_t a, b;
    curand_init(~0ull, 1, 0, &a), curand_init(~0ull, 0, ~0ull, &b);
    for (int i = 0; i < 3; i++)
        skipahead(~0ull, &b);
    skipahead(3, &b); // 4 * (2^64 - 1) + 3 numbers, and one more: the next subsequence
    curand(&b);
    out[3] = curand4(&a), out[4] = curand4(&b);
    curand(&b);
    const float4 u = curand_uniform4(&a), n = curand_normal4(&b);
    out[5] = make_uint4(u.x > 0, u.y <= 1, n.x != n.y, n.z != n.w);
}
static void known_answers()
{
    static const uint4 answers[] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                    {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
                                    {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    uint4 *d, h[6];
    cudaMalloc(&d, sizeof h);
    philox<<<1, 1>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 3; i++) {
        EXPECT("x", h[i].x, answers[i].x);
        EXPECT("y", h[i].y, answers[i].y);
        EXPECT("z", h[i].z, answers[i].z);
        EXPECT("w", h[i].w, answers[i].w);
    }
    EXPECT("the carry", h[3].x == h[4].x && h[3].w == h[4].w, true);
    EXPECT("numbers of four", h[5].x && h[5].y && h[5].z && h[5].w, true);
    cudaFree(d);
}

/* The lesson: a state for each thread, and how many points lie in the circle. */
__global__ void seed(curandState *state, unsigned long long n)
{
    curand_init(n, blockIdx.x * blockDim.x + threadIdx.x, 0, &state[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void count(curandState *state, int *inside, int points)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState mine = state[i];
    int n = 0;
    for (int p = 0; p < points; p++) {
        const float x = curand_uniform(&mine), y = curand_uniform(&mine);
        n += x * x + y * y <= 1;
    }
    atomicAdd(inside, n);
    state[i] = mine;
}
static void pi()
{
    enum { BLOCKS = 4, THREADS = 64, POINTS = 200 };
    curandState *state;
    int *inside;
    cudaMalloc(&state, BLOCKS * THREADS * sizeof *state);
    cudaMallocManaged(&inside, sizeof *inside);
    *inside = 0;
    seed<<<BLOCKS, THREADS>>>(state, 42);
    count<<<BLOCKS, THREADS>>>(state, inside, POINTS);
    cudaDeviceSynchronize();
    EXPECT("pi", fabs(4.0 * *inside / (BLOCKS * THREADS * POINTS) - 3.14159265) < 0.03, true);
    cudaFree(state), cudaFree(inside);
}

/* Generators of the host and of the device, in calls that begin within a round of the 4096 subsequences. */
static void generators()
{
    enum { N = 10000 };
    curandGenerator_t host, device;
    curandCreateGeneratorHost(&host, CURAND_RNG_PSEUDO_XORWOW);
    EXPECT("a generator", curandCreateGenerator(&device, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
    curandSetPseudoRandomGeneratorSeed(host, 1234), curandSetPseudoRandomGeneratorSeed(device, 1234ull);
    static unsigned u[N];
    static float f[N], *d;
    static double x[N];
    curandGenerate(host, u, 6), curandGenerate(host, u + 6, N - 6);
    EXPECT("[0]", u[0], 624778773);
    EXPECT("[1]", u[1], 3522650202);
    EXPECT("[4095]", u[4095], 3856448218);
    EXPECT("[4096]", u[4096], 1867875844);
    EXPECT("[8192]", u[8192], 3739671282);
    cudaMalloc(&d, N * sizeof *d);
    curandGenerateUniform(device, d, N);
    cudaMemcpy(f, d, sizeof f, cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        EXPECT("the same", f[i], u[i] * 0x1p-32f + 0x1p-33f);
    EXPECT("offset", curandSetGeneratorOffset(host, 0), CURAND_STATUS_SUCCESS);
    curandGenerateNormal(host, f, N, 0, 1);
    NEAR("normal [0]", f[0], 0.780973554);
    NEAR("normal [1]", f[1], -1.80157816);
    NEAR("normal [3]", f[3], 0.563546598);
    NEAR("normal [9999]", f[9999], 0.387142181);
    curandGenerate(host, u, 1);
    EXPECT("behind 5000 pairs", u[0], 1911353636);
    curandSetGeneratorOffset(host, 0), curandGenerateNormalDouble(host, x, 10, 0, 1);
    NEAR("normal double [0]", x[0], 0.35873979852445503);
    NEAR("normal double [1]", x[1], -1.239592503223552);
    NEAR("normal double [2]", x[2], -0.091495399773608627);
    curandSetGeneratorOffset(host, 0), curandGenerateLogNormal(host, f, 4, 1, 2);
    NEAR("log-normal", f[0], 12.9610291);
    curandSetGeneratorOffset(host, 0), curandGenerateNormal(host, f, 4, 1, 2);
    NEAR("mean and deviation", f[1], -2.60315633);
    EXPECT("pairs", curandGenerateNormal(host, f, 5, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    EXPECT("no other", curandCreateGenerator(&device, (curandRngType_t)141), CURAND_STATUS_TYPE_ERROR);
    EXPECT("the end", curandDestroyGenerator(host) + curandDestroyGenerator(device), CURAND_STATUS_SUCCESS);
    cudaFree(d);
}

int main()
{
    draws(), known_answers(), pi(), generators();
    if (!wrong)
        puts("all right");
    return wrong > 0;
}
