// The page of --report=html as the live page: without data, and allowed to fetch it.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "postproc/live/live_data.h"

namespace jtrace::live {

struct LivePage {
  std::string html;
  std::string policy;  // as a header; meta elements cannot keep other sites from framing the page
};

// Of the page without data, as postproc/web/build.mjs makes it. Internal if it has another form.
absl::StatusOr<LivePage> MakeLivePage(std::string_view page_template);

// The data in a page of jtrace-post: base64 of gzip of JSON. Internal if it has another form.
absl::StatusOr<std::string_view> DataOfPage(std::string_view page);

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
