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

// Any thread. Tables live as long as this, because handlers may use them: each is half the size of
// the next one, so all of them together take twice the memory of the last one. Destroyed with the
// sampler, when no handler runs.
class AddressSet {
 public:
  AddressSet();

  // Not 0.
  void Add(uintptr_t address);
  // For a new recording: removes all.
  void Clear();

  // The pointer that it points to is never null.
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
