#include "agent/sampling/app_methods.h"

#include <utility>

namespace jtrace::sampling {
namespace {

constexpr uint32_t kFirstSlots = 1024;

}  // namespace

AppMethods::AppMethods() {
  tables_.push_back(std::make_unique<Table>(kFirstSlots));
  published_.store(&tables_.back()->table, std::memory_order_release);
}

void AppMethods::Insert(hot::MethodTable& table, uintptr_t method) {
  uint32_t i = hot::MethodTable::Hash(method);
  while (table.slots[i & table.mask].load(std::memory_order_relaxed) != 0) ++i;
  table.slots[i & table.mask].store(method, std::memory_order_relaxed);
}

void AppMethods::Add(uintptr_t method) {
  absl::MutexLock lock(&mutex_);
  hot::MethodTable& table = tables_.back()->table;
  if (table.Contains(method)) return;
  ++count_;
  if (2 * count_ <= table.mask) {
    Insert(table, method);
    return;
  }
  auto larger = std::make_unique<Table>(2 * (table.mask + 1));
  for (uint32_t i = 0; i <= table.mask; ++i) {
    const uintptr_t known = table.slots[i].load(std::memory_order_relaxed);
    if (known != 0) Insert(larger->table, known);
  }
  Insert(larger->table, method);
  published_.store(&larger->table, std::memory_order_release);
  tables_.push_back(std::move(larger));
}

void AppMethods::Clear() {
  absl::MutexLock lock(&mutex_);
  const hot::MethodTable& table = tables_.back()->table;
  for (uint32_t i = 0; i <= table.mask; ++i) table.slots[i].store(0, std::memory_order_relaxed);
  count_ = 0;
}

}  // namespace jtrace::sampling
