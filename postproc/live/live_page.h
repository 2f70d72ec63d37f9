// The page of --report=html as the live page: without data, and allowed to fetch it.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::live {

struct LivePage {
  std::string html;
  std::string policy;  // as a header; meta elements cannot keep other sites from framing the page
};

// Of the page without data, as postproc/web/build.mjs makes it. Internal if it has another form.
absl::StatusOr<LivePage> MakeLivePage(std::string_view page_template);

// The data in a page of jtrace-post: base64 of gzip of JSON. Internal if it has another form.
absl::StatusOr<std::string_view> DataOfPage(std::string_view page);

}  // namespace jtrace::live
