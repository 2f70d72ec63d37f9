// Totals of any thread or of the process, readers and counters. No signal handler.
#include "agent/api/abi/any_thread.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "agent/api/abi/codes.h"
#include "agent/api/abi/functions.h"
#include "agent/metrics/counter_numbers.h"

namespace jtrace::abi {
namespace {

using metrics::Availability;
using metrics::ThreadCounters;

absl::StatusOr<int64_t> TotalOf(const Subject& subject, uint32_t metric) {
  if (subject.of == JTRACE_OF_PROCESS) return Counters().Process(metric);
  if (subject.of == JTRACE_OF_JAVA_THREAD) return Counters().Of(subject.thread, metric);
  return Counters().OfOsThread(static_cast<pid_t>(subject.thread), metric);
}

Availability AvailabilityFor(const Subject& subject, uint32_t metric) {
  if (subject.of != JTRACE_OF_PROCESS)
    return Counters().current_thread().AvailabilityForThreads(metric);
  return Counters().current_thread().AvailabilityForProcess(metric);
}

// For a resolved subject.
int32_t ReadTotals(const Subject& subject, const uint32_t* ids, size_t count, int64_t* values) {
  for (size_t i = 0; i < count; ++i) {
    if (const Availability availability = AvailabilityFor(subject, ids[i]);
        availability != Availability::kYes) {
      return Code(availability);
    }
    absl::StatusOr<int64_t> total = TotalOf(subject, ids[i]);
    // The thread may have started before counting began.
    if (absl::IsNotFound(total.status())) {
      PublishedNativeApi().RegisterThreads();
      total = TotalOf(subject, ids[i]);
    }
    if (!total.ok()) return ThreadCode(total.status());
    values[i] = *total;
  }
  return JTRACE_OK;
}

// Open readers, each with its own cursor. Readings of one reader run one after the other, those of
// different readers in parallel.
class Readers {
 public:
  static constexpr size_t kMost = 65536;

  // Returns error codes; `subject` must be resolved.
  int32_t Open(const Subject& subject, const uint32_t* ids, size_t count, uint64_t& reader);
  int32_t Read(uint64_t reader, int64_t* totals, int64_t* deltas);
  int32_t Close(uint64_t reader);

 private:
  struct Reader {
    Subject subject;
    std::vector<uint32_t> ids;
    std::mutex mutex;  // guards the members below
    std::vector<int64_t> last;
    std::vector<int64_t> now;
  };

  std::mutex mutex_;  // guards the members below; no lock is taken under it
  uint64_t last_ = 0;
  absl::flat_hash_map<uint64_t, std::shared_ptr<Reader>> readers_;
};

int32_t Readers::Open(const Subject& subject, const uint32_t* ids, size_t count, uint64_t& reader) {
  auto made = std::make_shared<Reader>();
  made->subject = subject;
  made->ids.assign(ids, ids + count);
  made->now.resize(count);
  made->last.resize(count);
  const int32_t code = ReadTotals(subject, ids, count, made->last.data());
  if (code != JTRACE_OK) return code;
  const std::lock_guard lock(mutex_);
  if (readers_.size() == kMost) return JTRACE_E_FULL;
  readers_.emplace(last_ + 1, std::move(made));
  reader = ++last_;
  return JTRACE_OK;
}

int32_t Readers::Read(uint64_t reader, int64_t* totals, int64_t* deltas) {
  std::shared_ptr<Reader> found;
  {
    const std::lock_guard lock(mutex_);
    const auto it = readers_.find(reader);
    if (it == readers_.end()) return JTRACE_E_HANDLE;
    found = it->second;
  }
  const std::lock_guard lock(found->mutex);
  const size_t count = found->ids.size();
  const int32_t code = ReadTotals(found->subject, found->ids.data(), count, found->now.data());
  if (code != JTRACE_OK) return code;
  for (size_t i = 0; i < count; ++i) {
    if (totals != nullptr) totals[i] = found->now[i];
    if (deltas != nullptr) deltas[i] = metrics::WrapSubtract(found->now[i], found->last[i]);
  }
  found->last.swap(found->now);
  return JTRACE_OK;
}

int32_t Readers::Close(uint64_t reader) {
  const std::lock_guard lock(mutex_);
  return readers_.erase(reader) != 0 ? JTRACE_OK : JTRACE_E_HANDLE;
}

Readers& AllReaders() {
  static auto* const readers = new Readers();  // threads that outlive the JVM's end may still call
  return *readers;
}

}  // namespace

int32_t Resolve(Subject& subject) {
  if (subject.of > JTRACE_OF_OS_THREAD) return JTRACE_E_ARGUMENT;
  constexpr uint64_t kMaxOsThread = std::numeric_limits<pid_t>::max();
  if (subject.of == JTRACE_OF_OS_THREAD && subject.thread > kMaxOsThread) return JTRACE_E_THREAD;
  if (subject.of != JTRACE_OF_OWN_THREAD) return JTRACE_OK;
  const std::optional<ThreadCounters::Identity> own = PublishedNativeApi().RegisterThread();
  if (!own) return JTRACE_E_MEMORY;
  const bool is_java = own->java_tid != 0;
  subject = {.of = is_java ? uint32_t{JTRACE_OF_JAVA_THREAD} : uint32_t{JTRACE_OF_OS_THREAD},
             .thread = is_java ? own->java_tid : static_cast<uint64_t>(own->os_tid)};
  return JTRACE_OK;
}

int32_t JavaTidOf(const Subject& subject, uint64_t& java_tid) {
  if (subject.of == JTRACE_OF_OS_THREAD) {
    const auto os_tid = static_cast<pid_t>(subject.thread);
    std::optional<uint64_t> found = Counters().JavaTidOf(os_tid);
    if (!found) {
      PublishedNativeApi().RegisterThreads();
      found = Counters().JavaTidOf(os_tid);
    }
    if (!found) return JTRACE_E_THREAD;
    java_tid = *found;
    return JTRACE_OK;
  }
  java_tid = subject.thread;
  return JTRACE_OK;
}

int32_t ThreadAttach() {
  return Guarded(
      [] { return PublishedNativeApi().RegisterThread() ? JTRACE_OK : JTRACE_E_MEMORY; });
}

int32_t Totals(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count, int64_t* values) {
  return Guarded([&] {
    if (count != 0 && (ids == nullptr || values == nullptr)) return int32_t{JTRACE_E_ARGUMENT};
    Subject subject = {of, thread};
    const int32_t code = Resolve(subject);
    return code == JTRACE_OK ? ReadTotals(subject, ids, count, values) : code;
  });
}

int32_t ReaderOpen(uint32_t of, uint64_t thread, const uint32_t* ids, size_t count,
                   uint64_t* reader) {
  return Guarded([&] {
    if (reader == nullptr || (count != 0 && ids == nullptr)) return int32_t{JTRACE_E_ARGUMENT};
    Subject subject = {of, thread};
    const int32_t code = Resolve(subject);
    return code == JTRACE_OK ? AllReaders().Open(subject, ids, count, *reader) : code;
  });
}

int32_t ReaderRead(uint64_t reader, int64_t* totals, int64_t* deltas) {
  return Guarded([&] { return AllReaders().Read(reader, totals, deltas); });
}

int32_t ReaderClose(uint64_t reader) {
  return Guarded([&] { return AllReaders().Close(reader); });
}

int32_t Counter(const char* name, const char* unit, uint32_t flags, uint32_t* id) {
  return Guarded([&] {
    if (name == nullptr || id == nullptr || (flags & ~JTRACE_COUNTER_PER_CPU) != 0) {
      return int32_t{JTRACE_E_ARGUMENT};
    }
    const auto counting =
        flags != 0 ? metrics::Counting::kByProcessor : metrics::Counting::kByThread;
    const auto number = Counters().users().Register(name, unit != nullptr ? unit : "", counting);
    if (!number.ok()) return CounterCode(number.status());
    *id = *number;
    return int32_t{JTRACE_OK};
  });
}

}  // namespace jtrace::abi
