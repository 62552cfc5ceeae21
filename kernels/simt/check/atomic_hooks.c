/*
 * atomic_hooks.c - what the compiler calls for C++'s own atomics, with -fsanitize=thread: in std::thread, std::atomic,
 * std::shared_ptr of the host's code beside the kernels. They are done, and that is all: the device's atomics are
 * others (atomic.c). Without them such a program would not link.
 */
#include <stdbool.h>
#include <stdint.h>

/* The order that is asked for is passed as a number and may be stronger: it always is the strongest. */
#define ORDER __ATOMIC_SEQ_CST

#define FETCH(bits, name, operation)                                              \
    uint##bits##_t name(volatile uint##bits##_t *p, uint##bits##_t v, int order); \
    uint##bits##_t name(volatile uint##bits##_t *p, uint##bits##_t v, int order)  \
    {                                                                             \
        (void)order;                                                              \
        return operation(p, v, ORDER);                                            \
    }
#define COMPARE(bits, name)                                                                                \
    int name(volatile uint##bits##_t *p, uint##bits##_t *wanted, uint##bits##_t v, int order, int failed); \
    int name(volatile uint##bits##_t *p, uint##bits##_t *wanted, uint##bits##_t v, int order, int failed)  \
    {                                                                                                      \
        (void)order, (void)failed;                                                                         \
        return __atomic_compare_exchange_n(p, wanted, v, false, ORDER, ORDER);                             \
    }
#define ATOMICS(bits)                                                                          \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order);    \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order); \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int order)     \
    {                                                                                          \
        (void)order;                                                                           \
        return __atomic_load_n(p, ORDER);                                                      \
    }                                                                                          \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int order)  \
    {                                                                                          \
        (void)order;                                                                           \
        __atomic_store_n(p, v, ORDER);                                                         \
    }                                                                                          \
    FETCH(bits, __tsan_atomic##bits##_exchange, __atomic_exchange_n)                           \
    FETCH(bits, __tsan_atomic##bits##_fetch_add, __atomic_fetch_add)                           \
    FETCH(bits, __tsan_atomic##bits##_fetch_sub, __atomic_fetch_sub)                           \
    FETCH(bits, __tsan_atomic##bits##_fetch_and, __atomic_fetch_and)                           \
    FETCH(bits, __tsan_atomic##bits##_fetch_or, __atomic_fetch_or)                             \
    FETCH(bits, __tsan_atomic##bits##_fetch_xor, __atomic_fetch_xor)                           \
    FETCH(bits, __tsan_atomic##bits##_fetch_nand, __atomic_fetch_nand)                         \
    COMPARE(bits, __tsan_atomic##bits##_compare_exchange_strong)                               \
    COMPARE(bits, __tsan_atomic##bits##_compare_exchange_weak)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(ORDER);
}
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
}
