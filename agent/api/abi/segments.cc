// Segments of the calling thread. No signal handler.
#include "agent/metrics/segments.h"

#include "agent/api/abi/functions.h"

namespace jtrace::abi {

using metrics::ThreadSegments;

int32_t Segment(const char* name, uint32_t* id) {
  return Guarded([&] {
    if (name == nullptr || *name == 0 || id == nullptr) return JTRACE_E_ARGUMENT;
    *id = TheHost().segments().Number(name);
    return JTRACE_OK;
  });
}

int32_t SegmentBegin(uint32_t id) {
  return Guarded([&] {
    metrics::Segments& segments = TheHost().segments();
    if (!segments.Has(id)) return JTRACE_E_ARGUMENT;
    switch (ThreadSegments::Begin(segments, id)) {
      case ThreadSegments::Begun::kYes:
        return JTRACE_OK;
      case ThreadSegments::Begun::kTooMany:
        return JTRACE_E_FULL;
      case ThreadSegments::Begun::kThreadEnds:
        break;
    }
    return JTRACE_E_THREAD;
  });
}

int32_t SegmentEnd(uint32_t id) {
  return Guarded([&] {
    metrics::Segments& segments = TheHost().segments();
    if (!segments.Has(id)) return JTRACE_E_ARGUMENT;
    return ThreadSegments::End(segments, id) ? JTRACE_OK : JTRACE_E_HANDLE;
  });
}

}  // namespace jtrace::abi
