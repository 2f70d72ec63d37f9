// A target's name in the names of files.
#pragma once

#include <string>
#include <string_view>

#include "absl/strings/str_format.h"
#include "postproc/fleet/stable_ids.h"
#include "postproc/support/strings.h"

namespace jtrace::ship {

// "otlp-0123456789abcdef"
inline std::string TargetKey(std::string_view kind, std::string_view place) {
  const auto id = static_cast<uint64_t>(postproc::fleet::StableId(place));
  return postproc::StrCat(kind, "-", absl::StrFormat("%016x", id));
}

}  // namespace jtrace::ship
