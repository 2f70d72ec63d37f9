// Gives callbacks access to an object that other threads create and retire.
#pragma once

#include <atomic>
#include <chrono>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/signal_safe/signal_scope.h"

namespace jtrace {

// How long the end of a recording waits for callbacks that are inside.
constexpr absl::Duration kGateTimeout = absl::Seconds(1);

// The one pointer to a T that callbacks may use, with the number of those that are inside.
//
// A callback enters, then loads the pointer. To retire the T, close the gate, then wait until no
// callback is inside (signal_safe/signal_scope.h has the memory order). If a callback stays inside,
// leak the T: it must not be freed or reused.
//
// Threads: Inside and Close on any; Open on one at a time.
template <typename T>
class Gate {
 public:
  class Inside {
   public:
    explicit Inside(Gate& gate) : gate_(gate) {
      gate_.inside_.Enter();
      object_ = gate_.object_.load(std::memory_order_seq_cst);
      // Callbacks that find the gate closed never delay a stop, however many there are.
      if (object_ == nullptr) gate_.inside_.Leave();
    }
    ~Inside() {
      if (object_ != nullptr) gate_.inside_.Leave();
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    // False: the gate is closed.
    explicit operator bool() const { return object_ != nullptr; }
    T* operator->() const { return object_; }
    T& operator*() const { return *object_; }

   private:
    Gate& gate_;
    T* object_;
  };

  void Open(T& object) { object_.store(&object, std::memory_order_seq_cst); }
  // Later callbacks find no T. Returns whether the gate was open.
  bool Close() { return object_.exchange(nullptr, std::memory_order_seq_cst) != nullptr; }

  // False: a callback was inside at each check, for that long.
  bool WaitUntilEmpty(absl::Duration timeout) const {
    // The clock of the day may be set meanwhile.
    const auto begin = std::chrono::steady_clock::now();
    while (!inside_.Idle()) {
      if (absl::FromChrono(std::chrono::steady_clock::now() - begin) >= timeout) return false;
      absl::SleepFor(absl::Milliseconds(1));
    }
    return true;
  }

 private:
  std::atomic<T*> object_{nullptr};
  signal_safe::InFlight inside_;
};

}  // namespace jtrace
