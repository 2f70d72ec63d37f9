#include "postproc/reader/text_node.h"

#include <cstdint>
#include <string>
#include <vector>

#include "postproc/reader/text_format.h"

namespace jtrace::postproc::text {
namespace {

constexpr std::string_view kBlocks = "blocks:";

bool ParseUnsigned(std::string_view digits, uint32_t& number) {
  int64_t value = 0;
  if (!text::ParseNumber(digits, value) || value < 0 || value > UINT32_MAX) return false;
  number = static_cast<uint32_t>(value);
  return true;
}

// `key`: without "blocks:".
bool ParseBlockCount(std::string_view key, int64_t value, NodeCounts& counts) {
  const std::vector<std::string_view> parts = Split(key, ':');
  uint32_t code = 0, at = 0;
  if (parts.size() > 2 || !ParseUnsigned(parts[0], code)) return false;
  if (counts.blocks.empty() || counts.blocks.back().code != code) {
    counts.blocks.emplace_back().code = code;
  }
  NodeBlocks& blocks = counts.blocks.back();
  if (parts.size() == 1) {
    blocks.calls = value;
    return true;
  }
  std::string_view place = parts[1];
  const bool is_open = ConsumePrefix(place, "o");
  if (!ParseUnsigned(place, at)) return false;
  (is_open ? blocks.open : blocks.counts).emplace_back(at, value);
  return true;
}

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
  } else if (ConsumePrefix(key, kBlocks)) {
    return ParseBlockCount(key, value, counts);
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

void ForEachBlockPair(absl::Span<const NodeBlocks> blocks,
                      absl::FunctionRef<void(std::string_view, int64_t)> f) {
  for (const NodeBlocks& it : blocks) {
    const std::string key = StrCat(kBlocks, it.code);
    f(key, it.calls);
    for (const auto& [place, count] : it.counts) f(StrCat(key, ":", place), count);
    for (const auto& [bci, count] : it.open) f(StrCat(key, ":o", bci), count);
  }
}

}  // namespace jtrace::postproc::text
