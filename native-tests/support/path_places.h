// The places of calls in the paths of reports: "A:12 > B@3 > C".
#pragma once

#include <string>
#include <string_view>

namespace jtrace::testing {

inline constexpr std::string_view kPathSeparator = " > ";

// The end of a path's step without its place: ":12" or "@3".
inline size_t EndWithoutPlace(std::string_view step) {
  const size_t digits = step.find_last_not_of("0123456789");
  const bool has_place = digits != std::string_view::npos && digits + 1 < step.size() &&
                         (step[digits] == ':' || step[digits] == '@');
  return has_place ? digits : step.size();
}

// Without the places of callers: "A > B > C".
inline std::string WithoutPlaces(std::string_view path) {
  std::string out;
  for (size_t end = path.find(kPathSeparator); end != std::string_view::npos;
       end = path.find(kPathSeparator)) {
    out += path.substr(0, EndWithoutPlace(path.substr(0, end)));
    out += kPathSeparator;
    path.remove_prefix(end + kPathSeparator.size());
  }
  out += path;
  return out;
}

// What follows the last caller with a place: "C" of "A:12 > C", all of "A > C".
inline std::string AfterLastPlace(std::string_view path) {
  for (size_t end = path.rfind(kPathSeparator); end != std::string_view::npos && end != 0;
       end = path.rfind(kPathSeparator, end - 1)) {
    if (EndWithoutPlace(path.substr(0, end)) != end) {
      return std::string(path.substr(end + kPathSeparator.size()));
    }
  }
  return std::string(path);
}

}  // namespace jtrace::testing
