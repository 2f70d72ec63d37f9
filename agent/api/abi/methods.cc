// Methods, windows and commands, which wait for the writer thread or for another command; segments,
// which do not. No signal handler.
#include <optional>
#include <string>

#include "agent/api/abi/any_thread.h"
#include "agent/api/abi/codes.h"
#include "agent/api/abi/functions.h"
#include "agent/events/segments.h"
#include "agent/signal_safe/agent_work_scope.h"

namespace jtrace::abi {

using events::ThreadSegments;

namespace {

absl::StatusOr<metrics::MethodTotals> Ask(const jtrace_method_query& query,
                                          std::optional<uint64_t> java_tid) {
  if (query.window != 0) {
    return PublishedNativeApi().WindowMethod(query.window, query.metric, query.pattern);
  }
  return PublishedNativeApi().Method(java_tid, query.metric, query.pattern);
}

// Stores the Java thread whose calls the query is about; none: all threads.
int32_t ThreadOf(const jtrace_method_query& query, std::optional<uint64_t>& java_tid) {
  if (query.window != 0 || query.of == JTRACE_OF_PROCESS) return JTRACE_OK;
  Subject subject = {query.of, query.thread};
  if (const int32_t code = Resolve(subject); code != JTRACE_OK) return code;
  java_tid = 0;
  return JavaTidOf(subject, *java_tid);
}

// Passes each line of the text to the sink, as a C string. The sink is the program's own code.
void Reply(std::string text, bool is_error, jtrace_sink sink, void* context) {
  if (sink == nullptr) return;
  const signal_safe::ProgramCallScope in_the_sink;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    if (end < text.size()) text[end] = '\0';
    sink(context, is_error ? 1 : 0, text.c_str() + begin);
    begin = end + 1;
  }
}

}  // namespace

int32_t WindowOpen(uint32_t of, uint64_t* window) {
  return Guarded([&] {
    if (window == nullptr || of > JTRACE_OF_OWN_THREAD) return int32_t{JTRACE_E_ARGUMENT};
    jtrace_method_query query = {};
    query.of = of;
    std::optional<uint64_t> java_tid;
    if (const int32_t code = ThreadOf(query, java_tid); code != JTRACE_OK) return code;
    const auto opened = PublishedNativeApi().OpenWindow(java_tid);
    if (!opened.ok()) return MethodCode(opened.status(), JTRACE_E_THREAD);
    *window = *opened;
    return int32_t{JTRACE_OK};
  });
}

int32_t WindowClose(uint64_t window) {
  return Guarded(
      [&] { return PublishedNativeApi().CloseWindow(window) ? JTRACE_OK : JTRACE_E_HANDLE; });
}

int32_t Method(const jtrace_method_query* query, jtrace_method_stats* stats) {
  return Guarded([&] {
    if (query == nullptr || stats == nullptr || query->struct_size < sizeof(*query) ||
        query->pattern == nullptr) {
      return int32_t{JTRACE_E_ARGUMENT};
    }
    if (Counters().current_thread().AvailabilityOf(query->metric) ==
        metrics::Availability::kNoMetric) {
      return int32_t{JTRACE_E_METRIC};
    }
    std::optional<uint64_t> java_tid;
    if (const int32_t code = ThreadOf(*query, java_tid); code != JTRACE_OK) return code;
    const auto totals = Ask(*query, java_tid);
    if (!totals.ok()) {
      return MethodCode(totals.status(), query->window != 0 ? JTRACE_E_HANDLE : JTRACE_E_THREAD);
    }
    jtrace_method_stats values = {};
    values.calls = totals->calls;
    values.outermost_calls = totals->outermost_calls;
    values.base = totals->base;
    values.cum = totals->cum;
    return int32_t{CopySized(values, kFirstMethodStatsSize, stats) ? JTRACE_OK : JTRACE_E_ARGUMENT};
  });
}

int32_t Command(const char* verb, const char* argument, jtrace_sink sink, void* context) {
  return Guarded([&] {
    if (verb == nullptr) return int32_t{JTRACE_E_ARGUMENT};
    const auto answer = PublishedNativeApi().Command(verb, argument != nullptr ? argument : "");
    Reply(answer.ok() ? *answer : std::string(answer.status().message()), !answer.ok(), sink,
          context);
    return CommandCode(answer.status());
  });
}

int32_t Segment(const char* name, uint32_t* id) {
  return Guarded([&] {
    if (name == nullptr || *name == 0 || id == nullptr) return JTRACE_E_ARGUMENT;
    *id = PublishedNativeApi().segments().Number(name);
    return JTRACE_OK;
  });
}

int32_t SegmentBegin(uint32_t id) {
  return Guarded([&] {
    events::Segments& segments = PublishedNativeApi().segments();
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
    events::Segments& segments = PublishedNativeApi().segments();
    if (!segments.Has(id)) return JTRACE_E_ARGUMENT;
    return ThreadSegments::End(segments, id) ? JTRACE_OK : JTRACE_E_HANDLE;
  });
}

}  // namespace jtrace::abi
