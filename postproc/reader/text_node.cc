#include "postproc/reader/text_node.h"

#include <cstdint>
#include <string>

#include "postproc/reader/text_format.h"

namespace jtrace::postproc::text {
namespace {

bool ParseCount(std::string_view key, int64_t value, TraceModel& model, NodeCounts& counts) {
  if (key.empty()) return false;
  if (key == "calls") {
    counts.calls = value;
  } else if (key == "calls_jitted") {
    counts.calls_jitted = value;
  } else if (key == "base") {
    counts.base = value;
  } else if (key == "off") {
    counts.off = value;
  } else if (key == "min") {
    counts.min = value;
  } else if (key == "max") {
    counts.max = value;
  } else {
    counts.metrics.emplace_back(model.InternMetric(key), value);
  }
  return true;
}

}  // namespace

bool ParseNodeCounts(std::string_view field, TraceModel& model, NodeCounts& counts) {
  std::string storage;
  for (std::string_view pairs = field; !pairs.empty();) {
    const std::string_view pair = NextPair(pairs);
    if (pair.empty()) continue;
    const size_t equals = pair.rfind('=');
    int64_t value = 0;
    if (equals == std::string_view::npos || !ParseNumber(pair.substr(equals + 1), value) ||
        !ParseCount(Unescape(WithPlainCommas(pair.substr(0, equals)), storage), value, model,
                    counts)) {
      return false;
    }
  }
  return true;
}

}  // namespace jtrace::postproc::text
