// What threads have counted at hooks, fetched from their tables (hot::HookThread).
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "agent/hot/hook_thread.h"

namespace jtrace::hooks {

// One reader of the process' tables. Writer thread.
class HookRowReader {
 public:
  // Hands over what was counted since the last call, but for what threads in the handler are just
  // counting. A row's caller may come again.
  void Drain(absl::FunctionRef<void(const hot::HookRow&)> take);
  // Whether Drain had to leave something.
  bool has_left() const { return has_left_; }
  // Return addresses that timed calls wait for a site at.
  void TakeWantedReturns(absl::FunctionRef<void(uintptr_t)> take);
  // Tables of threads that have ended go to others.
  void Recycle();

 private:
  bool has_left_ = false;
};

}  // namespace jtrace::hooks
