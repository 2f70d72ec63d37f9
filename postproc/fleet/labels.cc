#include "postproc/fleet/labels.h"

#include "absl/types/span.h"
#include "common/nearest.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {

absl::Status SetLabel(std::string_view text, Labels& labels) {
  const size_t equals = text.find('=');
  const std::string_view key = text.substr(0, equals);
  constexpr std::string_view kKeys[] = {"service", "version", "host", "container"};
  std::string Labels::*const members[] = {&Labels::service, &Labels::version, &Labels::host,
                                          &Labels::container};
  if (equals == std::string_view::npos || equals + 1 == text.size()) {
    return absl::InvalidArgumentError(
        StrCat("--label: '", text, "' is not KEY=VALUE, such as service=shop"));
  }
  for (size_t i = 0; i < std::size(kKeys); ++i) {
    if (key != kKeys[i]) continue;
    labels.*members[i] = std::string(text.substr(equals + 1));
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(StrCat("--label: '", key,
                                           "' is unknown; nearest: ", Nearest(key, kKeys),
                                           " (valid: ", Join(kKeys, " "), ")"));
}

}  // namespace jtrace::postproc::fleet
