#include "postproc/calltree/class_log.h"

#include "postproc/support/strings.h"

namespace jtrace::postproc {

void ClassLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  const bool is_load = op == "class-load";
  if ((!is_load && op != "class-unload") || args.empty()) return;
  Entry& entry = classes_[args[0]];
  if (!is_load) {
    ++entry.unloads;
    return;
  }
  if (entry.loads++ == 0) entry.first_load = at.time;
  std::string_view methods = args.size() > 1 ? std::string_view(args[1]) : "";
  int64_t count = 0;
  if (ConsumePrefix(methods, "methods=") && ParseInteger(methods, count)) entry.methods = count;
}

}  // namespace jtrace::postproc
