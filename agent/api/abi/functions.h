// The C functions, as api/c/jtrace.h documents them, and what they share: the agent behind them,
// the guard around each, structures that grow.
#pragma once

#include <cxxabi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>

#include "agent/api/abi/native_api.h"
#include "agent/api/c/jtrace.h"

namespace jtrace::abi {

int32_t MetricIds(uint32_t* ids, size_t capacity, size_t* count);
int32_t MetricId(const char* name, uint32_t* id);
int32_t MetricInfo(uint32_t id, jtrace_metric* info);

int32_t ThreadAttach();
int32_t CurrentThreadTotals(const uint32_t* ids, size_t count, int64_t* values);
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

// Returns JTRACE_OK if the agent runs, else why it does not. Async-signal-safe.
int32_t State();
// The published agent, and its counters. Only if State() is JTRACE_OK.
NativeApi& PublishedNativeApi();
metrics::ThreadCounters& Counters();

// Runs `call` if the agent runs, and turns exceptions into error codes. Only the exception of a
// thread's cancellation (pthread_cancel) leaves it: the C library aborts if that is not rethrown.
template <typename Call>
int32_t Guarded(Call call) {
  if (const int32_t state = State(); state != JTRACE_OK) return state;
  try {
    return call();
  } catch (::abi::__forced_unwind&) {
    throw;
  } catch (const std::bad_alloc&) {
    return JTRACE_E_MEMORY;
  } catch (...) {
    return JTRACE_E_INTERNAL;
  }
}

// Copies the part of a structure of jtrace.h that the caller has room for; fields that only the
// caller knows become 0. `first_size`: the size that the structure had in the first version of
// jtrace.h. Returns false if `into` gives a smaller size, such as 0. Async-signal-safe.
template <typename Struct>
bool CopySized(const Struct& from, size_t first_size, Struct* into) {
  const uint32_t size = into->struct_size;
  if (size < first_size) return false;
  std::memset(static_cast<void*>(into), 0, size);
  std::memcpy(static_cast<void*>(into), &from, std::min<size_t>(size, sizeof(Struct)));
  into->struct_size = size;
  return true;
}

// Sizes of structures in the first version of jtrace.h. They stay when fields are appended.
inline constexpr size_t kFirstMetricSize = 56;
inline constexpr size_t kFirstMethodStatsSize = 40;
static_assert(sizeof(jtrace_metric) >= kFirstMetricSize);
static_assert(sizeof(jtrace_method_stats) >= kFirstMethodStatsSize);

}  // namespace jtrace::abi
