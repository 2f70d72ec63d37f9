#include "postproc/samples/io_log.h"

#include <algorithm>

#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kKinds[] = {"read", "write", "connect", "accept"};

}  // namespace

void IoLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  const bool is_begin = ConsumeSuffix(op, "-begin");
  if (!is_begin && !ConsumeSuffix(op, "-end")) return;
  if (std::find(std::begin(kKinds), std::end(kKinds), op) == std::end(kKinds)) return;
  if (!is_begin) return End(at, op, args);
  begun_[at.thread] = {{std::string(op), args.empty() ? "" : args[0]}, at.time};
}

// A peer is known at the end of a call only.
void IoLog::End(At at, std::string_view kind, absl::Span<const std::string> args) {
  const auto begun = begun_.find(at.thread);
  if (begun == begun_.end() || begun->second.name.first != kind) return;
  Name name = begun->second.name;
  int64_t bytes = 0;
  for (const std::string& arg : args) {
    std::string_view value = arg;
    if (!ConsumePrefix(value, "value=") || !ParseInteger(value, bytes)) name.second = arg;
  }
  Total& total = totals_[name];
  const int64_t time = WrapSub(at.time, begun->second.time);
  begun_.erase(begun);
  ++total.calls;
  total.failed += bytes < 0 ? 1 : 0;
  total.bytes = WrapAdd(total.bytes, std::max<int64_t>(bytes, 0));
  total.time = WrapAdd(total.time, time);
  total.longest = std::max(total.longest, time);
  total.threads.insert(at.thread);
}

}  // namespace jtrace::postproc
