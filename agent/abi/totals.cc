#include "agent/abi/totals.h"

#include <optional>

#include "agent/abi/codes.h"
#include "agent/abi/published.h"

namespace jtrace::abi {
namespace {

using metrics::Answer;
using metrics::ThreadCounters;

absl::StatusOr<int64_t> TotalOf(const Subject& subject, uint32_t metric) {
  if (subject.of == JTRACE_OF_PROCESS) return Counters().Process(metric);
  if (subject.of == JTRACE_OF_JAVA_THREAD) return Counters().Of(subject.thread, metric);
  return Counters().OfOsThread(static_cast<pid_t>(subject.thread), metric);
}

Answer AnswerFor(const Subject& subject, uint32_t metric) {
  if (subject.of != JTRACE_OF_PROCESS) return Counters().own().CheckOfThread(metric);
  return Counters().own().CheckOfProcess(metric);
}

}  // namespace

int32_t Resolve(Subject& subject) {
  if (subject.of > JTRACE_OF_OS_THREAD) return JTRACE_E_ARGUMENT;
  if (subject.of != JTRACE_OF_OWN_THREAD) return JTRACE_OK;
  const std::optional<ThreadCounters::Identity> own = TheHost().RegisterThread();
  if (!own) return JTRACE_E_MEMORY;
  const bool is_java = own->java_tid != 0;
  subject = {.of = is_java ? uint32_t{JTRACE_OF_JAVA_THREAD} : uint32_t{JTRACE_OF_OS_THREAD},
             .thread = is_java ? own->java_tid : static_cast<uint64_t>(own->os_tid)};
  return JTRACE_OK;
}

int32_t ReadTotals(const Subject& subject, const uint32_t* ids, size_t count, int64_t* values) {
  for (size_t i = 0; i < count; ++i) {
    if (const Answer answer = AnswerFor(subject, ids[i]); answer != Answer::kYes) {
      return Code(answer);
    }
    absl::StatusOr<int64_t> total = TotalOf(subject, ids[i]);
    if (absl::IsNotFound(total.status())) {
      TheHost().RegisterThreads();
      total = TotalOf(subject, ids[i]);
    }
    if (!total.ok()) return ThreadCode(total.status());
    values[i] = *total;
  }
  return JTRACE_OK;
}

int32_t JavaTidOf(const Subject& subject, uint64_t& java_tid) {
  if (subject.of == JTRACE_OF_OS_THREAD) {
    const auto os_tid = static_cast<pid_t>(subject.thread);
    std::optional<uint64_t> found = Counters().JavaTidOf(os_tid);
    if (!found) {
      TheHost().RegisterThreads();
      found = Counters().JavaTidOf(os_tid);
    }
    if (!found) return JTRACE_E_THREAD;
    java_tid = *found;
    return JTRACE_OK;
  }
  java_tid = subject.thread;
  return JTRACE_OK;
}

}  // namespace jtrace::abi
