// Fetches the threads' counts at hooks from their tables (HookThread).
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "agent/native_hooks/hook_thread.h"

namespace jtrace::native_hooks {

// The only reader of the process' tables. Writer thread.
class HookRowReader {
 public:
  // Passes on the counts since the last call, except those that threads in the handler are just
  // adding. A row's caller may occur again.
  void Drain(absl::FunctionRef<void(const HookRow&)> take);
  // Whether Drain had to leave something.
  bool has_left() const { return has_left_; }
  // Return addresses at which timed calls need a site.
  void TakeWantedReturns(absl::FunctionRef<void(uintptr_t)> take);
  // Makes the tables of ended threads available to others.
  void Recycle();

 private:
  bool has_left_ = false;
};

}  // namespace jtrace::native_hooks
