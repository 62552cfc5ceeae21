/*
 * hooks.c - what the compiler calls. The kernels are compiled with -fsanitize=thread,alignment,bounds, and instead of
 * the sanitizers' own libraries this file is linked: a call for each load and store, one for each misaligned pointer or
 * bad index.
 */
#include <string.h>

#include "kernels/simt/check/check.h"

#define PC __builtin_return_address(0)

/* Who reads one place again and again, and does nothing else with memory, waits for another to write there. */
enum { LOOKS = 4096 };
static void look(gr__simt_machine *m, const void *p, bool write, const void *pc)
{
    gr__simt_thread *me = m->current;
    if (write || me->looked_at != p || me->looked_by != pc) {
        me->looked_at = write ? NULL : p, me->looked_by = pc;
        me->looks = 0;
    } else if (++me->looks > LOOKS && !gr__simt_let_others_do_it(m, NULL, 0)) {
        char place[512];
        gr__simt_report_vain(m, gr__simt_site_text(m, gr__simt_site_of_pc(pc), place, sizeof place));
    }
}

static void __attribute__((noinline)) touch(const void *p, size_t bytes, bool write, const void *pc)
{
    gr__simt_machine *m = gr__simt_now;
    if (m && !m->current && m->memory.host_waits && (m->queue.copies || m->queue.waited != m->queue.host.at[0]))
        gr__simt_check_host(m, &(gr__simt_access){NULL, p, bytes, write, false, gr__simt_site_of_pc(pc), false});
    if (m && m->current && !gr__simt_on_stack(&m->stacks, p)) {
        gr__simt_check(m, &(gr__simt_access){m->current, p, bytes, write, false, gr__simt_site_of_pc(pc), false});
        look(m, p, write, pc);
    }
}

/*
 * Most accesses are to what would be registers, on the thread's own stack: they are let go without a look at the
 * machine.
 */
static inline void hook(const void *p, size_t bytes, bool write, const void *pc)
{
    const char here = 0;
    if (((uintptr_t)p ^ (uintptr_t)&here) >= GR__SIMT_STACK)
        touch(p, bytes, write, pc);
}

void __tsan_init(void);
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);
void __tsan_init(void)
{
}
void __tsan_func_entry(void *caller)
{
    (void)caller;
}
void __tsan_func_exit(void)
{
}

#define HOOK(name, bytes, write)   \
    void name(void *p);            \
    void name(void *p)             \
    {                              \
        hook(p, bytes, write, PC); \
    }
#define HOOKS(bytes)                                 \
    HOOK(__tsan_read##bytes, bytes, false)           \
    HOOK(__tsan_write##bytes, bytes, true)           \
    HOOK(__tsan_unaligned_read##bytes, bytes, false) \
    HOOK(__tsan_unaligned_write##bytes, bytes, true) \
    HOOK(__tsan_volatile_read##bytes, bytes, false)  \
    HOOK(__tsan_volatile_write##bytes, bytes, true)  \
    HOOK(__tsan_read##bytes##_pc, bytes, false)      \
    HOOK(__tsan_write##bytes##_pc, bytes, true)
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes)
{
    hook(p, bytes, false, PC);
}
void __tsan_write_range(void *p, size_t bytes)
{
    hook(p, bytes, true, PC);
}

/* An object's pointer to the virtual functions of its class. */
void __tsan_vptr_update(void **p, void *functions);
void __tsan_vptr_read(void **p);
void __tsan_vptr_update(void **p, void *functions)
{
    (void)functions;
    hook(p, sizeof *p, true, PC);
}
void __tsan_vptr_read(void **p)
{
    hook(p, sizeof *p, false, PC);
}

/* clang calls these for copies. */
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    hook(from, bytes, false, PC);
    hook(to, bytes, true, PC);
    return memcpy(to, from, bytes);
}
void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
    hook(from, bytes, false, PC);
    hook(to, bytes, true, PC);
    return memmove(to, from, bytes);
}
void *__tsan_memset(void *to, int value, size_t bytes)
{
    hook(to, bytes, true, PC);
    return memset(to, value, bytes);
}

/* As the compilers lay out their arguments (UBSan's interface, version 1). */
typedef struct {
    const char *file;
    uint32_t line, column;
} place;
typedef struct {
    uint16_t kind, info;
    char name[];
} type;
typedef struct {
    place at;
    const type *of;
    unsigned char log_alignment, access;
} mismatch;
typedef struct {
    place at;
    const type *array, *index;
} bad_index;

void __ubsan_handle_type_mismatch_v1(const mismatch *what, uintptr_t p);
void __ubsan_handle_out_of_bounds(const bad_index *what, uintptr_t index);

void __ubsan_handle_type_mismatch_v1(const mismatch *what, uintptr_t p)
{
    gr__simt_machine *m = gr__simt_now;
    char address[160];
    if (!m || !m->current)
        return;
    gr__simt_name_address(m, (const void *)p, address, sizeof address);
    gr__simt_report(m, "misaligned: %s needs a multiple of %d and is at %s; this access %s:%u", what->of->name,
                    1 << what->log_alignment, address, gr__simt_short(what->at.file), what->at.line);
}

void __ubsan_handle_out_of_bounds(const bad_index *what, uintptr_t index)
{
    gr__simt_machine *m = gr__simt_now;
    if (m && m->current)
        gr__simt_report(m, "out of bounds: index %td of %s; this access %s:%u", (ptrdiff_t)index, what->array->name,
                        gr__simt_short(what->at.file), what->at.line);
}
