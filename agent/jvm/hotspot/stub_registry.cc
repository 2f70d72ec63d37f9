#include "agent/jvm/hotspot/stub_registry.h"

#include <utility>

#include "absl/strings/match.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace::jvm {

void StubRegistry::Add(std::string_view name, uintptr_t begin, uintptr_t end) {
  // The entry for the whole interpreter would hide its codelets.
  if (begin >= end || name == "Interpreter") return;
  absl::MutexLock lock(&mutex_);
  stubs_[begin] = Stub{end, std::string(name)};
  changed_ = true;
}

std::string StubRegistry::Name(uintptr_t address) const {
  absl::MutexLock lock(&mutex_);
  auto after = stubs_.upper_bound(address);
  if (after == stubs_.begin()) return "";
  const auto& [begin, stub] = *--after;
  return address < stub.end ? stub.name : "";
}

void StubRegistry::Publish(samples::VmLayout* layout) {
  absl::MutexLock lock(&mutex_);
  if (!changed_) return;
  auto fresh = std::make_unique<Table>();
  fresh->ranges.reserve(stubs_.size());
  for (const auto& [begin, stub] : stubs_) {
    if (!fresh->ranges.empty() && fresh->ranges.back().end > begin) {
      fresh->ranges.back().end = begin;
    }
    fresh->ranges.push_back({begin, stub.end, absl::StrContains(stub.name, "method entry point")});
  }
  fresh->table = {static_cast<uint32_t>(fresh->ranges.size()), fresh->ranges.data()};
  // What may throw comes before the store: no exception must free a table that handlers see.
  if (current_ != nullptr) retired_.push_back(std::move(current_));
  current_ = std::move(fresh);
  layout->stubs.store(&current_->table, std::memory_order_seq_cst);
  changed_ = false;
  // A handler that starts after the store uses the new table. If none runs now, none uses another.
  if (signal_safe::handlers_in_flight.Idle()) retired_.clear();
}

}  // namespace jtrace::jvm
