#include "postproc/reader/wait_args.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

std::string_view CauseName(proto::WaitEvent::Cause cause) {
  switch (cause) {
    case proto::WaitEvent::OWNED:
      return "owned";
    case proto::WaitEvent::UNOWNED:
      return "unowned";
    case proto::WaitEvent::UNPARKED:
      return "unparked";
    case proto::WaitEvent::ENDED:
      return "ended";
    case proto::WaitEvent::NOTIFIED:
      return "notified";
    case proto::WaitEvent::TIMED_OUT:
      return "timed-out";
    case proto::WaitEvent::INTERRUPTED:
      return "interrupted";
    default:
      return "unknown";  // of a newer agent, too
  }
}

}  // namespace

std::vector<std::string> WaitArgs(const proto::Event& event, Definitions& definitions,
                                  const TraceModel& model) {
  const proto::WaitEvent& wait = event.wait_event();
  std::vector<std::string> args = {StrCat("how=", CauseName(wait.cause())),
                                   StrCat("value=", std::max<int64_t>(event.value(), 0))};
  const auto add = [&](std::string_view key, std::string_view name) {
    definitions.budget().TakeText(name.size());
    args.push_back(StrCat(key, name));
  };
  if (event.text() != 0) add("on=", definitions.Text(event.text()));
  if (wait.by_thread() != 0) add("for=", model.thread(definitions.Thread(wait.by_thread())).name);
  if (wait.routine() != 0) add("at=", model.RoutineName(definitions.Routine(wait.routine())));
  if (wait.by_routine() != 0) add("by=", model.RoutineName(definitions.Routine(wait.by_routine())));
  return args;
}

}  // namespace jtrace::postproc
