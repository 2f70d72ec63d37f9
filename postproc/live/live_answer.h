// What /data answers: where the recording stands, and its data if the page has older ones.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "postproc/live/live_data.h"

namespace jtrace::live {

// The JVM, for the page's line about it.
struct LiveJvmFacts {
  int64_t pid = 0;
  std::string program;
};

// {"state": "live"|"stopped"|"ended", "pid": …, "program": …, "message": …, "serial": …,
//  "age_ms": of the data, "cost_ms": of making them, "data": base64, if serial > after}
std::string LiveAnswer(const LiveJvmFacts& jvm, const LiveState& state, uint64_t after,
                       std::chrono::steady_clock::time_point now);

}  // namespace jtrace::live
