#include "agent/metrics/name_text.h"

#include "absl/strings/str_replace.h"
#include "common/utf8.h"
#include "common/visible_text.h"

namespace jtrace::metrics {

std::string Utf8Of(absl::string_view text) {
  return ValidUtf8(FromModifiedUtf8(std::string(text)));
}

std::string PrometheusLabel(absl::string_view utf8) {
  return absl::StrReplaceAll(utf8, {{"\\", "\\\\"}, {"\"", "\\\""}, {"\n", "\\n"}});
}

}  // namespace jtrace::metrics
