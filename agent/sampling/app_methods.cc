#include "agent/sampling/app_methods.h"

namespace jtrace::sampling {
namespace {

constexpr uint32_t kFirstSlots = 1024;

}  // namespace

AppMethods::AppMethods() : table_(NewTable(kFirstSlots)), published_(table_) {}

hot::MethodTable* AppMethods::NewTable(uint32_t slots) {
  return new hot::MethodTable{slots - 1, new std::atomic<uintptr_t>[slots] {}};
}

void AppMethods::Insert(hot::MethodTable& table, uintptr_t method) {
  uint32_t i = hot::MethodTable::Hash(method);
  while (table.slots[i & table.mask].load(std::memory_order_relaxed) != 0) ++i;
  table.slots[i & table.mask].store(method, std::memory_order_relaxed);
}

void AppMethods::Add(uintptr_t method) {
  absl::MutexLock lock(&mutex_);
  if (table_->Contains(method)) return;
  if (2 * (count_ + 1) > table_->mask) {
    hot::MethodTable* const larger = NewTable(2 * (table_->mask + 1));
    for (uint32_t i = 0; i <= table_->mask; ++i) {
      const uintptr_t known = table_->slots[i].load(std::memory_order_relaxed);
      if (known != 0) Insert(*larger, known);
    }
    table_ = larger;
    published_.store(table_, std::memory_order_release);
  }
  Insert(*table_, method);
  ++count_;
}

void AppMethods::Clear() {
  absl::MutexLock lock(&mutex_);
  if (count_ == 0) return;
  table_ = NewTable(kFirstSlots);
  count_ = 0;
  published_.store(table_, std::memory_order_release);
}

}  // namespace jtrace::sampling
