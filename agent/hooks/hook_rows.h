// Fetches the threads' counts at hooks from their tables (hot::HookThread).
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "agent/hot/hook_thread.h"

namespace jtrace::hooks {

// The only reader of the process' tables. Writer thread.
class HookRowReader {
 public:
  // Passes on the counts since the last call, except those that threads in the handler are just
  // adding. A row's caller may occur again.
  void Drain(absl::FunctionRef<void(const hot::HookRow&)> take);
  // Whether Drain had to leave something.
  bool has_left() const { return has_left_; }
  // Return addresses at which timed calls need a site.
  void TakeWantedReturns(absl::FunctionRef<void(uintptr_t)> take);
  // Makes the tables of ended threads available to others.
  void Recycle();

 private:
  bool has_left_ = false;
};

}  // namespace jtrace::hooks
