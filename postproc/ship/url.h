// URLs of targets, and what is asked with them.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace jtrace::ship {

// `text`: http://… or https://… InvalidArgument, one line, for others. Without a path it gets
// `usual_path`.
absl::StatusOr<std::string> UrlWithPath(std::string_view text, std::string_view usual_path);
// Without user, password and query, for people.
std::string ShownUrl(std::string_view url);
// `query`: "name=a&from=1"
std::string WithQuery(std::string_view url, std::string_view query);

}  // namespace jtrace::ship
