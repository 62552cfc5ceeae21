/*
 * queues.cc - streams, events, graphs. What is asked of a stream waits in it until somebody waits for it ("late"), is
 * done at once ("early"), or now and then ("random"): all are allowed, and a wait that is missing shows in one of them.
 */
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "tests/ptx/interpreter/settings.h"
#include "tests/ptx/runtime/runtime.h"

namespace ptx
{
struct stream;

/* What was asked, or the wait for a place in another stream. */
struct item {
    std::function<void()> run;
    stream *other; /* NULL: none */
    uint64_t until;
};

struct stream {
    int device;
    std::deque<item> waiting;
    uint64_t asked_for = 0, done = 0; /* items */
    std::vector<std::function<void()>> *captured = nullptr;
};

typedef std::chrono::steady_clock::time_point moment_of_time;

/* The last record; of a stream that is NULL: none. One that tells time is reached as an item of the stream's. */
struct event {
    const bool timed;
    stream *on = nullptr;
    uint64_t place = 0;
    std::shared_ptr<moment_of_time> reached;

    explicit event(bool tells_time) : timed(tells_time)
    {
    }
};

typedef std::vector<std::function<void()>> graph;

static std::vector<stream *> &streams()
{
    static auto *all = new std::vector<stream *>;
    return *all;
}

static stream *of(cudaStream_t s)
{
    static stream *standard = [] {
        streams().push_back(new stream);
        return streams().back();
    }();
    return s ? (stream *)s : standard;
}

int device_of(cudaStream_t s)
{
    return s ? of(s)->device : current_device();
}

/* The items of s up to number until are done, and before them what they wait for. */
static void advance(stream *s, uint64_t until)
{
    while (s->done < until) {
        const item next = std::move(s->waiting.front());
        s->waiting.pop_front();
        s->done++;
        if (next.other)
            advance(next.other, next.until);
        else if (broken_error() == cudaSuccess)
            next.run();
    }
}

void finish_all()
{
    for (stream *s : streams())
        advance(s, s->asked_for);
}

static void make_progress(stream *s)
{
    static std::mt19937_64 chance(asked().seed);
    if (asked().streams == moment::EARLY)
        advance(s, s->asked_for);
    if (asked().streams == moment::RANDOM && !streams().empty()) {
        stream *any = streams()[chance() % streams().size()];
        advance(any, any->done + chance() % (any->asked_for - any->done + 1));
    }
}

static void ask(stream *s, item i)
{
    s->waiting.push_back(std::move(i));
    s->asked_for++;
    make_progress(s);
}

void enqueue(cudaStream_t to, std::function<void()> f)
{
    stream *s = of(to);
    if (s->captured)
        s->captured->push_back(std::move(f));
    else
        ask(s, {std::move(f), nullptr, 0});
}
} // namespace ptx

using namespace ptx;

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned)
{
    const auto held = lock();
    streams().push_back(new stream);
    streams().back()->device = current_device();
    *s = (cudaStream_t)streams().back();
    return broken_error();
}

cudaError_t cudaStreamDestroy(cudaStream_t s)
{
    const auto held = lock();
    advance(of(s), of(s)->asked_for);
    return cudaSuccess; /* events may still name it */
}

cudaError_t cudaStreamSynchronize(cudaStream_t s)
{
    const auto held = lock();
    advance(of(s), of(s)->asked_for);
    return broken_error();
}

/* Not an error that is kept; every question brings the stream one item on. */
cudaError_t cudaStreamQuery(cudaStream_t s)
{
    const auto held = lock();
    stream *what = of(s);
    if (what->done < what->asked_for)
        advance(what, what->done + 1);
    return what->done < what->asked_for ? cudaErrorNotReady : broken_error();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags)
{
    *e = (cudaEvent_t) new event(!(flags & cudaEventDisableTiming));
    return broken_error();
}

cudaError_t cudaEventDestroy(cudaEvent_t e)
{
    const auto held = lock();
    delete (event *)e;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s)
{
    const auto held = lock();
    event *what = (event *)e;
    if (what->timed) {
        auto reached = what->reached = std::make_shared<moment_of_time>();
        enqueue(s, [reached] { *reached = std::chrono::steady_clock::now(); });
    }
    what->on = of(s);
    what->place = of(s)->asked_for;
    return broken_error();
}

/* Of events whose place somebody has waited for. */
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
    const auto held = lock();
    const event *a = (event *)from, *b = (event *)to;
    if (!a->timed || !b->timed || !a->on || !b->on)
        return said(cudaErrorInvalidResourceHandle);
    if (a->on->done < a->place || b->on->done < b->place)
        return said(cudaErrorNotReady);
    *milliseconds = std::chrono::duration<float, std::milli>(*b->reached - *a->reached).count();
    return broken_error();
}

cudaError_t cudaEventSynchronize(cudaEvent_t e)
{
    const auto held = lock();
    const event *what = (event *)e;
    if (what->on)
        advance(what->on, what->place);
    return broken_error();
}

cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned)
{
    const auto held = lock();
    const event *what = (event *)e;
    if (what->on && what->on != of(s))
        ask(of(s), {nullptr, what->on, what->place});
    return broken_error();
}

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode)
{
    const auto held = lock();
    of(s)->captured = new graph;
    return broken_error();
}

cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g)
{
    const auto held = lock();
    *g = (cudaGraph_t)of(s)->captured;
    of(s)->captured = nullptr;
    return broken_error();
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *ready, cudaGraph_t g, unsigned long long)
{
    const auto held = lock();
    *ready = (cudaGraphExec_t) new graph(*(graph *)g);
    return broken_error();
}

cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
    delete (graph *)g;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t g)
{
    const auto held = lock();
    delete (graph *)g;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t g, cudaStream_t s)
{
    const auto held = lock();
    for (const auto &f : *(graph *)g)
        ask(of(s), {f, nullptr, 0});
    return broken_error();
}
}
