#include "agent/jvm/hotspot/address_set.h"

#include <utility>

namespace jtrace::jvm {
namespace {

constexpr uint32_t kFirstSlots = 1024;

}  // namespace

AddressSet::AddressSet() {
  tables_.push_back(std::make_unique<Table>(kFirstSlots));
  published_.store(&tables_.back()->table, std::memory_order_release);
}

void AddressSet::Insert(signal_safe::AddressTable& table, uintptr_t address) {
  uint32_t i = signal_safe::AddressTable::Hash(address);
  while (table.slots[i & table.mask].load(std::memory_order_relaxed) != 0) ++i;
  table.slots[i & table.mask].store(address, std::memory_order_relaxed);
}

void AddressSet::Add(uintptr_t address) {
  absl::MutexLock lock(&mutex_);
  signal_safe::AddressTable& table = tables_.back()->table;
  if (table.Contains(address)) return;
  ++count_;
  if (2 * count_ <= table.mask) {
    Insert(table, address);
    return;
  }
  auto larger = std::make_unique<Table>(2 * (table.mask + 1));
  for (uint32_t i = 0; i <= table.mask; ++i) {
    const uintptr_t known = table.slots[i].load(std::memory_order_relaxed);
    if (known != 0) Insert(larger->table, known);
  }
  Insert(larger->table, address);
  // Release: a handler that sees the larger table sees all of its addresses.
  published_.store(&larger->table, std::memory_order_release);
  tables_.push_back(std::move(larger));
}

void AddressSet::Clear() {
  absl::MutexLock lock(&mutex_);
  const signal_safe::AddressTable& table = tables_.back()->table;
  for (uint32_t i = 0; i <= table.mask; ++i) table.slots[i].store(0, std::memory_order_relaxed);
  count_ = 0;
}

}  // namespace jtrace::jvm
