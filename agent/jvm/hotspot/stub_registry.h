// The named pieces of generated code, for the walker (ranges) and for the writer (names).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Thread-safe. The walker gets immutable tables: a changed registry is published as a new table,
// and the previous table is freed when no handler can be using it.
class StubRegistry {
 public:
  // Adds the code at [begin, end). A later piece at the same begin replaces the earlier one.
  void Add(std::string_view name, uintptr_t begin, uintptr_t end);

  // Returns the name of the piece that covers `address`; "" if there is none.
  std::string Name(uintptr_t address) const;

  // Publishes what was added since the last time, if anything, in layout->stubs.
  void Publish(samples::VmLayout* layout);

 private:
  struct Stub {
    uintptr_t end;
    std::string name;
  };
  struct Table {
    samples::StubTable table;
    std::vector<samples::StubRange> ranges;
  };

  mutable absl::Mutex mutex_;
  std::map<uintptr_t, Stub> stubs_ ABSL_GUARDED_BY(mutex_);
  bool changed_ ABSL_GUARDED_BY(mutex_) = false;
  std::unique_ptr<Table> current_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Table>> retired_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace jtrace::jvm
