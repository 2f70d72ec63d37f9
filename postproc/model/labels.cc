#include "postproc/model/labels.h"

#include <algorithm>

#include "common/utf8.h"

namespace jtrace::postproc {
namespace {

void AppendEscaped(std::string_view text, std::string_view special, std::string& out) {
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out.push_back('\\');
    out.push_back(c);
  }
}

}  // namespace

Labels Normalized(Labels labels) {
  for (auto& [key, value] : labels) {
    key = ValidUtf8(key);
    value = ValidUtf8(value);
  }
  std::stable_sort(labels.begin(), labels.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  Labels normalized;
  for (auto& label : labels) {
    if (label.first.empty()) continue;
    if (!normalized.empty() && normalized.back().first == label.first) normalized.pop_back();
    normalized.push_back(std::move(label));
  }
  std::erase_if(normalized, [](const auto& label) { return label.second.empty(); });
  return normalized;
}

std::string LabelText(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text.push_back(',');
    AppendEscaped(key, "\\,=", text);
    text.push_back('=');
    AppendEscaped(value, "\\,", text);
  }
  return text;
}

Labels ParseLabelText(std::string_view text) {
  Labels labels;
  std::pair<std::string, std::string> label;
  bool in_value = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',') {
      labels.push_back(std::exchange(label, {}));
      in_value = false;
    } else if (text[i] == '=' && !in_value) {
      in_value = true;
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      (in_value ? label.second : label.first).push_back(text[i]);
    }
  }
  labels.push_back(std::move(label));
  return Normalized(std::move(labels));
}

}  // namespace jtrace::postproc
