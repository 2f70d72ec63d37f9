// The caller of a start or a stop, which gets the progress and lets other requests be served.
#pragma once

#include <functional>

#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/recording/class_batches.h"

namespace jtrace {

struct Caller {
  // Which requests may be carried out between two batches of classes.
  enum Meanwhile { kAnyRequest, kQueries };

  // Gets a line for people before the work begins.
  std::function<void(absl::string_view line)> report = [](absl::string_view) {};
  // Called after each batch. `text`: DescribeProgress.
  std::function<void(const BatchProgress& progress, absl::string_view text)> progress =
      [](const BatchProgress&, absl::string_view) {};
  // How long a stop may take probes out before it leaves the rest to the control thread.
  absl::Duration patience = absl::InfiniteDuration();
  // Waits that long, or until another request was carried out. False: the work should be done at
  // once, because a request waits for its end.
  // The default never waits in a stop, because a thread of the program should go on soon.
  std::function<bool(absl::Duration time, Meanwhile served)> pause = [](absl::Duration time,
                                                                        Meanwhile served) {
    if (served == kQueries) return false;
    absl::SleepFor(time);
    return true;
  };
};

}  // namespace jtrace
