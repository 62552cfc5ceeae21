/*
 * gemm_phases.cuh - dX of a convolution with strides in one launch: each phase (conv_phase.cuh) is a product, with
 * blocks, splits and destination of its own. The launch's first blocks do something else meanwhile: they add the parts
 * that dW's blocks have left, which would take a launch of its own. As the last ones they would begin when the products
 * end.
 *
 *   gemm_phases  in the tiles of gemm.cuh
 *   box_phases   in those of gemm_boxes.cuh, where all phases see the same images in the same boxes
 *
 * A phase that no tap reaches has no depth, and its results are 0.
 */
#ifndef GRADUS_GEMM_PHASES_CUH
#define GRADUS_GEMM_PHASES_CUH

#include "kernels/cuda/gemm_boxes.cuh"
#include "kernels/cuda/gradient_operand.cuh"

enum {
    MOST_PHASES = 4,     /* of a launch: those of stride 2 */
    ADDING_THREADS = 256 /* of a multiprocessor, that add parts: with twice as many no tile would fit beside them */
};

typedef parts<gradient_result<float>> parts_of_dw;

/* One in the tiles of gemm.cuh: what gemm_block asks for. */
template <class A, class B, class E> struct tile_phase {
    A a;
    B b;
    phase_result<E> to;
    gemm_plan plan;
    float *partial;
    unsigned *arrivals;
};

/* One in boxes. */
template <class E> struct box_phase {
    phase_result<E> to;
    box_plan plan;
};

/* Those of a launch; ends: behind the last block of each, counted without the blocks that add. */
template <class PHASE> struct phases {
    PHASE of[MOST_PHASES];
    unsigned ends[MOST_PHASES];
};

/* The phase that a block belongs to. */
template <class PHASE> GR_DEVICE int phase_at(const phases<PHASE> *s, unsigned block)
{
    int i = 0;
    while (i < MOST_PHASES - 1 && block >= s->ends[i])
        i++;
    return i;
}

/* A block's number among those of its phase. */
template <class PHASE> GR_DEVICE unsigned block_of_phase(const phases<PHASE> *s, int i, unsigned block)
{
    return i == 0 ? block : block - s->ends[i - 1];
}

/*
 * How a block has an operand of its phase: whole ones in registers, as loads from a place that only the block knows
 * would stand in the product's loop; others leave no registers for that.
 */
template <class O> struct of_phase {
    typedef const O &operand;
};
template <class O> struct of_phase<whole<O>> {
    typedef const whole<O> operand;
};

/* Blocks that a multiprocessor shall hold: threads of small tiles do with 128 registers, but take more if they may. */
template <class TILE, class A, class B>
constexpr int PHASE_BLOCKS = TILE::QUADS > 4 ? BLOCKS_OF<TILE, A, B> : MOST_THREADS / TILE::THREADS;

template <class TILE, class A, class B, class E>
static __global__ void __launch_bounds__(TILE::THREADS, (PHASE_BLOCKS<TILE, A, B>))
    gemm_phases(const __grid_constant__ phases<tile_phase<A, B, E>> s, const __grid_constant__ parts_of_dw dw)
{
    const unsigned adding = gridDim.x - s.ends[MOST_PHASES - 1];
    if (blockIdx.x < adding)
        return parts_add(&dw, blockIdx.x, adding);
    const unsigned block = blockIdx.x - adding;
    const int i = phase_at(&s, block);
    const tile_phase<A, B, E> *f = &s.of[i];
    typename of_phase<A>::operand a = f->a;
    typename of_phase<B>::operand b = f->b;
    gemm_block<TILE>(&a, &b, &f->to, &f->plan, f->partial, f->arrivals, block_of_phase(&s, i, block));
}

template <class TILE, class A, class B, class E>
static __global__ void __launch_bounds__(TILE::THREADS, BOX_BLOCKS)
    box_phases(const __grid_constant__ A a, const __grid_constant__ B b, const __grid_constant__ phases<box_phase<E>> s,
               const __grid_constant__ parts_of_dw dw)
{
    const unsigned adding = gridDim.x - s.ends[MOST_PHASES - 1];
    if (blockIdx.x < adding)
        return parts_add(&dw, blockIdx.x, adding);
    const unsigned block = blockIdx.x - adding;
    const int i = phase_at(&s, block);
    box_block<TILE>(&a, &b, &s.of[i].to, &s.of[i].plan, block_of_phase(&s, i, block));
}

/* How the phases of a launch are cut. */
typedef struct {
    int count;
    conv_phase phase[MOST_PHASES];
    gemm_plan plan[MOST_PHASES]; /* of one shape */
} phases_cut;

static inline size_t phases_scratch(const phases_cut *cut)
{
    size_t bytes = 0;
    for (int i = 0; i < cut->count; i++)
        bytes += plan_scratch(&cut->plan[i]);
    return bytes;
}

/* Where the splits of phase i meet: behind those of the phases before it. */
template <class TILE>
static void phase_parts(gr_exec *exec, const phases_cut *cut, int i, float **partial, unsigned **arrivals)
{
    const gemm_plan *p = &cut->plan[i];
    const int words = GR_ARRIVALS / MOST_PHASES; /* of a phase */
    const bool itself = joins_itself<TILE>(exec, p) && (cut->count == 1 || p->tiles_m * p->tiles_n <= words);
    *partial = (float *)exec->scratch;
    *arrivals = itself ? exec->arrivals + i * words : NULL;
    exec->scratch = (char *)exec->scratch + plan_scratch(p);
}

/* Ends of the phases' blocks; those that there are not have none. */
template <class PHASE> static void phases_end(phases<PHASE> *s, const phases_cut *cut)
{
    int64_t end = 0;
    for (int i = 0; i < MOST_PHASES; i++) {
        const gemm_plan *p = &cut->plan[i];
        end += i < cut->count ? p->tiles_m * p->tiles_n * p->splits : 0;
        s->ends[i] = (unsigned)end;
    }
}

/* Blocks of so many threads that add parts beside others. */
static inline unsigned adding_blocks(const gr_exec *exec, const parts_of_dw &dw, int threads)
{
    const int64_t wanted = divide_up(dw.plan.m * dw.plan.pitch / QUAD, threads);
    const int64_t most = (int64_t)exec->multiprocessors * (ADDING_THREADS / threads);
    return dw.partial ? (unsigned)(wanted < most ? wanted : most) : 0;
}

/* Adds the parts of a phase that its blocks have left. */
template <class E>
static void phase_join(const gr_exec *exec, const phase_result<E> &to, const gemm_plan &p, float *partial, bool itself)
{
    gr_exec there = *exec;
    there.scratch = partial;
    join_launch(&there, parts_left(&there, to, p, itself));
}

/* a_of(&f), b_of(&f): the operands of a phase, to_of(&f) its results. */
template <class TILE, class A_OF, class B_OF, class TO_OF>
static void gemm_phases_launch(const gr_exec *exec, const A_OF &a_of, const B_OF &b_of, const TO_OF &to_of,
                               const phases_cut *cut, const parts_of_dw &dw)
{
    typedef decltype(a_of(cut->phase)) A;
    typedef decltype(b_of(cut->phase)) B;
    typedef typename A::element E;
    gr_exec rest = *exec;
    phases<tile_phase<A, B, E>> s = {};
    phases_end(&s, cut);
    for (int i = 0; i < cut->count; i++) {
        const conv_phase *f = &cut->phase[i];
        s.of[i] = tile_phase<A, B, E>{a_of(f), b_of(f), to_of(f), cut->plan[i], NULL, NULL};
        phase_parts<TILE>(&rest, cut, i, &s.of[i].partial, &s.of[i].arrivals);
    }
    const size_t bytes = dynamic_shared<A, B>(TILE());
    if (bytes > 0)
        GR_ALLOW_SHARED((gemm_phases<TILE, A, B, E>), bytes);
    GR_LAUNCH((gemm_phases<TILE, A, B, E>), s.ends[MOST_PHASES - 1] + adding_blocks(exec, dw, TILE::THREADS),
              TILE::THREADS, bytes, exec->queue, s, dw);
    for (int i = 0; i < cut->count; i++)
        phase_join(exec, s.of[i].to, cut->plan[i], s.of[i].partial, s.of[i].arrivals != NULL);
}

/* The same in boxes; begin_of(&f): where a phase begins in a and b. */
template <class TILE, class A, class B, class BEGIN_OF, class TO_OF>
static void box_phases_launch(const gr_exec *exec, const A &a, const B &b, const BEGIN_OF &begin_of, const TO_OF &to_of,
                              const phases_cut *cut, const parts_of_dw &dw)
{
    typedef typename A::element E;
    gr_exec rest = *exec;
    phases<box_phase<E>> s = {};
    phases_end(&s, cut);
    for (int i = 0; i < cut->count; i++) {
        const conv_phase *f = &cut->phase[i];
        const radices depths = {f->taps_r + (f->taps_r == 0), f->taps_s};
        s.of[i] = box_phase<E>{to_of(f), box_plan{cut->plan[i], depths, begin_of(f), NULL, NULL}};
        phase_parts<TILE>(&rest, cut, i, &s.of[i].plan.partial, &s.of[i].plan.arrivals);
    }
    const size_t bytes = sizeof(box_rings<TILE, A, B>);
    GR_ALLOW_SHARED((box_phases<TILE, A, B, E>), bytes);
    GR_LAUNCH((box_phases<TILE, A, B, E>), s.ends[MOST_PHASES - 1] + adding_blocks(exec, dw, TILE::THREADS),
              TILE::THREADS, bytes, exec->queue, a, b, s, dw);
    for (int i = 0; i < cut->count; i++)
        phase_join(exec, s.of[i].to, cut->plan[i], s.of[i].plan.partial, s.of[i].plan.arrivals != NULL);
}

#endif
