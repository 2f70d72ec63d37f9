// The caller of a start or a stop, which gets the progress and lets other requests be served.
#pragma once

#include <functional>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/recording/class_batches.h"

namespace jtrace {

struct CommandContext {
  // Which requests may be carried out between two batches of classes.
  enum ServedRequests { kAnyRequest, kQueries };

  // Gets a line for people before the work begins.
  std::function<void(absl::string_view line)> report = [](absl::string_view) {};
  // Called after each batch. `text`: DescribeProgress.
  std::function<void(const BatchProgress& progress, absl::string_view text)> progress =
      [](const BatchProgress&, absl::string_view) {};
  // How long a stop may take probes out before it leaves the rest to the control thread.
  absl::Duration timeout = absl::InfiniteDuration();
  // Waits for `time`, or until one request of the kind `served` was carried out. Returns false if
  // the work must be finished now, because another request waits for it. The default does not wait
  // in a stop: the program's thread should continue soon.
  std::function<bool(absl::Duration time, ServedRequests served)> pause =
      [](absl::Duration time, ServedRequests served) {
        if (served == kQueries) return false;
        absl::SleepFor(time);
        return true;
      };
};

}  // namespace jtrace
