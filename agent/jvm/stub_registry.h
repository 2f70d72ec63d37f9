// The named pieces of generated code, for the walker (ranges) and for the writer (names).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "agent/jvm/vm_structs.h"
#include "agent/samples/walk/vm_layout.h"

namespace jtrace::jvm {

// Thread-safe. The walker gets immutable tables: a changed registry is published as a new table,
// and the previous table is freed when no handler can be using it.
class StubRegistry {
 public:
  // The code at [begin, end). A later piece at the same begin replaces the earlier one.
  void Add(std::string_view name, uintptr_t begin, uintptr_t end);

  // Name of the piece that covers `address`; "" if there is none.
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

// Addresses of local symbols: those in .symtab, which dlsym does not find.

// The values of the symbols `names` in the ELF file `path`, in their order, relative to the address
// it is loaded at; 0 where there is no such symbol, and all 0 for a stripped or unreadable file.
std::vector<uint64_t> FindElfSymbols(const std::string& path,
                                     absl::Span<const std::string_view> names);

// Names of the methods that the JVM generates for method handles: MethodHandle.invokeBasic,
// linkToStatic and similar, one for each shape of arguments. They are in no class's list of methods
// and have no jmethodID, so only the JVM's memory names them. The JVM never frees them.

// The name of such a method.
struct IntrinsicMethod {
  std::string name;
  std::string descriptor;  // JVMS §4.3.3
};

class IntrinsicNames {
 public:
  static constexpr std::string_view kClass = "java.lang.invoke.MethodHandle";

  IntrinsicNames() = default;  // names nothing
  IntrinsicNames(const VmStructs& structs, const samples::VmLayout& layout);

  // The method at `method`, if it belongs to class MethodHandle: any other may be freed by now.
  // Loads are guarded. Any thread, but not for signal handlers: it allocates.
  std::optional<IntrinsicMethod> Find(uintptr_t method) const;

 private:
  std::string SymbolAt(uintptr_t address) const;
  // The text of the constant pool's entry whose index the u2 at `index_address` is.
  std::string PoolText(uintptr_t constants, uintptr_t index_address) const;

  bool usable_ = false;
  samples::Offset const_method_ = samples::kAbsent;
  samples::Offset constants_ = samples::kAbsent;
  samples::Offset pool_holder_ = samples::kAbsent;
  samples::Offset name_index_ = samples::kAbsent;
  samples::Offset signature_index_ = samples::kAbsent;
  samples::Offset klass_name_ = samples::kAbsent;
  samples::Offset symbol_length_ = samples::kAbsent;
  samples::Offset symbol_body_ = samples::kAbsent;
  uint32_t pool_size_ = 0;  // sizeof(ConstantPool): the entries follow it
};

}  // namespace jtrace::jvm
