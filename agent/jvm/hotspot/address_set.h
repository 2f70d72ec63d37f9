// Addresses that handlers look up, for example the application's methods.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "agent/signal_safe/address_table.h"

namespace jtrace::jvm {

// Add and Clear: any thread. A handler may still read an outgrown table, so tables live as long as
// the set. Each is half the size of the next one: all of them together take less than twice the
// memory of the last one. The set is destroyed only when no handler runs.
class AddressSet {
 public:
  AddressSet();

  // Adds `address`, which is not 0: a free slot has 0.
  void Add(uintptr_t address);
  // Removes all addresses, for a new recording.
  void Clear();

  // Points to the table in use, which is never null. Handlers load it anew for each query.
  const std::atomic<const signal_safe::AddressTable*>* published() const { return &published_; }

 private:
  struct Table {
    explicit Table(uint32_t count)
        : slots(new std::atomic<uintptr_t>[count] {}), table{count - 1, slots.get()} {}

    std::unique_ptr<std::atomic<uintptr_t>[]> slots;
    signal_safe::AddressTable table;
  };
  static void Insert(signal_safe::AddressTable& table, uintptr_t address);

  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_ ABSL_GUARDED_BY(mutex_);  // the last one is in use
  uint32_t count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::atomic<const signal_safe::AddressTable*> published_;
};

}  // namespace jtrace::jvm
