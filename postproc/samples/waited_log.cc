#include "postproc/samples/waited_log.h"

#include <algorithm>
#include <utility>

#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

// In place of a thread, of waits that ended without one that is known.
std::string_view WithoutThread(std::string_view how) {
  if (how == "timed-out") return "[timed out]";
  if (how == "interrupted") return "[interrupted]";
  if (how == "notified") return "[notified]";
  return "[unknown]";
}

// "how=", "for=", …; a later one of a key counts.
void Read(std::string_view arg, WaitedLog::Wait& wait, int64_t& time) {
  constexpr std::pair<std::string_view, std::string WaitedLog::Wait::*> kTexts[] = {
      {"how=", &WaitedLog::Wait::how},
      {"for=", &WaitedLog::Wait::waited_for},
      {"on=", &WaitedLog::Wait::on},
      {"at=", &WaitedLog::Wait::at},
      {"by=", &WaitedLog::Wait::by}};
  for (const auto& [key, field] : kTexts) {
    if (!ConsumePrefix(arg, key)) continue;
    wait.*field = std::string(arg);
    return;
  }
  int64_t value = 0;
  if (ConsumePrefix(arg, "value=") && ParseInteger(arg, value)) time = std::max<int64_t>(value, 0);
}

}  // namespace

void WaitedLog::Total::Add(const Total& other) {
  waits = WrapAdd(waits, other.waits);
  time = WrapAdd(time, other.time);
  longest = std::max(longest, other.longest);
}

void WaitedLog::OnNotice(At at, std::string_view op, absl::Span<const std::string> args) {
  if (!ConsumePrefix(op, "waited-") || !at.thread) return;
  Wait wait;
  int64_t time = 0;
  for (const std::string& arg : args) Read(arg, wait, time);
  wait.kind = op != "object" ? std::string(op) : wait.how == "ended" ? "join" : "wait";
  if (wait.waited_for.empty()) wait.waited_for = WithoutThread(wait.how);
  wait.waiter = waiters_.Text(waiters_.Intern(model_.thread(at.thread).name));
  waits_[std::move(wait)].Add({1, time, time});
}

}  // namespace jtrace::postproc
