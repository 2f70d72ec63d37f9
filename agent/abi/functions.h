// The C functions, as api/c/jtrace.h documents them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/api/c/jtrace.h"

namespace jtrace::abi {

int32_t MetricIds(uint32_t* ids, size_t capacity, size_t* count);
int32_t MetricId(const char* name, uint32_t* id);
int32_t MetricInfo(uint32_t id, jtrace_metric* info);

int32_t ThreadAttach();
int32_t OwnTotals(const uint32_t* ids, size_t count, int64_t* values);
int32_t Totals(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count, int64_t* values);

int32_t ReaderOpen(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                   uint64_t* reader);
int32_t ReaderRead(uint64_t reader, int64_t* totals, int64_t* deltas);
int32_t ReaderClose(uint64_t reader);

int32_t Counter(const char* name, const char* unit, uint32_t flags, uint32_t* id);
int32_t Add(uint32_t id, int64_t delta);

int32_t WindowOpen(uint32_t of, uint64_t* window);
int32_t WindowClose(uint64_t window);
int32_t Method(const jtrace_method_query* query, jtrace_method_stats* stats);

int32_t Segment(const char* name, uint32_t* id);
int32_t SegmentBegin(uint32_t id);
int32_t SegmentEnd(uint32_t id);

int32_t Command(const char* verb, const char* argument, jtrace_sink sink, void* context);

}  // namespace jtrace::abi
