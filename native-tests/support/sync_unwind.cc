#define UNW_LOCAL_ONLY
#include "native-tests/support/sync_unwind.h"

#include <libunwind.h>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace jtrace::testing {

absl::StatusOr<std::vector<uintptr_t>> UnwindNative(const ucontext_t& context, int max_frames) {
  unw_context_t start = context;
  unw_cursor_t cursor;
  int error = unw_init_local2(&cursor, &start, UNW_INIT_SIGNAL_FRAME);
  if (error < 0) return absl::InternalError(absl::StrCat("unw_init_local2: ", unw_strerror(error)));
  std::vector<uintptr_t> frames;
  while (static_cast<int>(frames.size()) < max_frames) {
    unw_word_t pc;
    if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 || pc == 0) break;
    frames.push_back(pc);
    if (unw_step(&cursor) <= 0) break;
  }
  return frames;
}

}  // namespace jtrace::testing
