#include "postproc/calltree/class_log.h"

#include "postproc/support/percent.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Paths of files are encoded as in URLs; other URLs stay as they are.
std::string SourceForPeople(std::string_view source) {
  const bool is_path = source.starts_with("/") || source.starts_with("file:");
  return is_path ? DecodePercents(source) : std::string(source);
}

}  // namespace

void ClassLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  const bool is_load = op == "class-load";
  if ((!is_load && op != "class-unload") || args.empty()) return;
  Entry& entry = classes_[args[0]];
  if (!is_load) {
    ++entry.unloads;
    return;
  }
  if (entry.loads++ == 0) entry.first_load = at.time;
  int64_t count = 0;
  for (std::string_view arg : args.subspan(1)) {
    if (!ConsumePrefix(arg, "methods=")) {
      entry.source = SourceForPeople(arg);
    } else if (ParseInteger(arg, count)) {
      entry.methods = count;
    }
  }
}

}  // namespace jtrace::postproc
