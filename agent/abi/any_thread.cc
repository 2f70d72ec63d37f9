// Totals of any thread, readers and counters. No signal handler.
#include "agent/abi/codes.h"
#include "agent/abi/functions.h"
#include "agent/abi/published.h"
#include "agent/abi/readers.h"
#include "agent/abi/totals.h"

namespace jtrace::abi {
namespace {

Readers& AllReaders() {
  static auto* const readers = new Readers();  // threads that outlive the JVM's end may still call
  return *readers;
}

}  // namespace

int32_t ThreadAttach() {
  return Guarded([] { return TheHost().RegisterThread() ? JTRACE_OK : JTRACE_E_MEMORY; });
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
