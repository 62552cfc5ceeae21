/*
 * nvToolsExt.h - NVTX: ranges and marks for a profiler to show. None looks on here, and nothing comes of them but what
 * their functions return: how many ranges are open in this thread.
 */
#ifndef GRADUS_CUDA_NV_TOOLS_EXT_H
#define GRADUS_CUDA_NV_TOOLS_EXT_H

#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_NO_PUSH_POP_TRACKING (-2)

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN, NVTX_COLOR_ARGB } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN,
    NVTX_MESSAGE_TYPE_ASCII,
    NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_MESSAGE_TYPE_REGISTERED
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64,
    NVTX_PAYLOAD_TYPE_INT64,
    NVTX_PAYLOAD_TYPE_DOUBLE,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
    NVTX_PAYLOAD_TYPE_INT32,
    NVTX_PAYLOAD_TYPE_FLOAT
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union payload_t {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_t;
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

/* Pushing gives the level of the new range, from 0 on; popping that of what ends, below 0 where there is none. */
static inline int gr__nvtx_level(int by)
{
    static __thread int open;
    open += by > 0;
    const int level = open - 1;
    open -= by < 0 && open;
    return level;
}

static inline int nvtxRangePushA(const char *name) { return (void)name, gr__nvtx_level(1); }
static inline int nvtxRangePushW(const wchar_t *name) { return (void)name, gr__nvtx_level(1); }
static inline int nvtxRangePushEx(const nvtxEventAttributes_t *range) { return (void)range, gr__nvtx_level(1); }
static inline int nvtxRangePop(void) { return gr__nvtx_level(-1); }

static inline nvtxRangeId_t nvtxRangeStartA(const char *name) { return (void)name, 0; }
static inline nvtxRangeId_t nvtxRangeStartW(const wchar_t *name) { return (void)name, 0; }
static inline nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *range) { return (void)range, 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t id) { (void)id; }

static inline void nvtxMarkA(const char *name) { (void)name; }
static inline void nvtxMarkW(const wchar_t *name) { (void)name; }
static inline void nvtxMarkEx(const nvtxEventAttributes_t *mark) { (void)mark; }
static inline void nvtxNameOsThreadA(uint32_t id, const char *name) { (void)id, (void)name; }
static inline void nvtxNameCategoryA(uint32_t category, const char *name) { (void)category, (void)name; }

#define nvtxRangePush nvtxRangePushA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxMark nvtxMarkA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxNameCategory nvtxNameCategoryA

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name) { return (void)name, (nvtxDomainHandle_t)0; }
static inline void nvtxDomainDestroy(nvtxDomainHandle_t domain) { (void)domain; }
static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *range)
{
    return (void)domain, nvtxRangePushEx(range);
}
static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain) { return (void)domain, nvtxRangePop(); }

#endif
