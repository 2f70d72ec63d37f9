// Classes that the JVM loaded and unloaded (0x20), by name: classes of the same name in several
// loaders count together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {

class ClassLog : public RecordVisitor {
 public:
  struct Entry {
    int64_t loads = 0;
    int64_t unloads = 0;
    int64_t methods = 0;     // of the class loaded last
    int64_t first_load = 0;  // in the trace's unit
    std::string source;      // the jar, folder or module of the class loaded last; "": unknown
  };

  void OnCalls(ThreadId, absl::Span<const CallRecord>) override {}
  void OnReducedCalls(ThreadId, const ReducedCalls&,
                      absl::FunctionRef<void(RecordVisitor&)>) override {}
  void OnNotice(At at, std::string_view op, absl::Span<const std::string> args) override;

  const absl::btree_map<std::string, Entry>& classes() const { return classes_; }

 private:
  absl::btree_map<std::string, Entry> classes_;
};

}  // namespace jtrace::postproc
