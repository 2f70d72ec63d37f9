#include "agent/trace/label_sets.h"

#include <algorithm>

namespace jtrace::trace {
namespace {

bool ContinuesCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Modified UTF-8 has a character beyond U+FFFF as two surrogates of three bytes each.
bool EndsInHighSurrogate(absl::string_view text) {
  if (text.size() < 3) return false;
  const absl::string_view last = text.substr(text.size() - 3);
  return last[0] == '\xED' && (static_cast<unsigned char>(last[1]) & 0xF0) == 0xA0;
}

void SetLabel(absl::string_view key, absl::string_view value, Labels& labels) {
  const auto place = std::lower_bound(
      labels.begin(), labels.end(), key,
      [](const auto& label, absl::string_view text) { return label.first < text; });
  const bool has_key = place != labels.end() && place->first == key;
  if (value.empty()) {
    if (has_key) labels.erase(place);
  } else if (has_key) {
    place->second = std::string(value);
  } else {
    labels.insert(place, {std::string(key), std::string(value)});
  }
}

}  // namespace

absl::string_view TruncateUtf8(size_t most, absl::string_view text) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && ContinuesCharacter(text[end])) --end;
  text = text.substr(0, end);
  if (EndsInHighSurrogate(text)) text.remove_suffix(3);
  return text;
}

uint32_t LabelSets::With(uint32_t outer, absl::string_view key, absl::string_view value) {
  if (key.empty() || key.size() > kMaxKeyBytes) return samples::kUnknownLabels;
  std::lock_guard lock(mutex_);
  if (outer > by_number_.size()) return samples::kUnknownLabels;
  Labels labels;
  if (outer != samples::kNoLabels) labels = *by_number_[outer - 1];
  SetLabel(key, TruncateUtf8(kMaxValueBytes, value), labels);
  if (labels.empty()) return samples::kNoLabels;
  if (labels.size() > kMaxLabels) return samples::kUnknownLabels;
  if (const auto known = numbers_.find(labels); known != numbers_.end()) return known->second;
  if (by_number_.size() >= most_) return samples::kUnknownLabels;
  const auto number = static_cast<uint32_t>(by_number_.size() + 1);
  by_number_.push_back(&numbers_.emplace(std::move(labels), number).first->first);
  return number;
}

const Labels* LabelSets::Find(uint32_t number) const {
  std::lock_guard lock(mutex_);
  return number == samples::kNoLabels || number > by_number_.size() ? nullptr
                                                                    : by_number_[number - 1];
}

}  // namespace jtrace::trace
