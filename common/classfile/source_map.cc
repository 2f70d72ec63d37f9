#include "common/classfile/source_map.h"

#include <algorithm>
#include <charconv>

namespace jtrace::classfile {
namespace {

// Lines are u2 in class files.
constexpr int32_t kMostLine = 65535;

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// The number at the beginning of `text`, from 0 to kMostLine, which is removed.
std::optional<int32_t> TakeNumber(std::string_view& text) {
  int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0 || number > kMostLine) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool TakeChar(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

// The text line by line; lines may end in CR, LF or both.
class SourceMap::Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }
  // A line that begins a section is not taken by Next of the section before.
  bool AtSection() const { return !rest_.empty() && rest_.front() == '*'; }
  std::string_view Next() {
    const size_t end = std::min(rest_.find_first_of("\r\n"), rest_.size());
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end);
    const bool crlf = rest_.size() >= 2 && rest_[0] == '\r' && rest_[1] == '\n';
    rest_.remove_prefix(std::min<size_t>(crlf ? 2 : 1, rest_.size()));
    return line;
  }

 private:
  std::string_view rest_;
};

std::optional<SourceMap> SourceMap::Parse(std::string_view text) {
  Lines lines(text);
  if (WithoutBlanks(lines.Next()) != "SMAP") return std::nullopt;
  lines.Next();  // the file that the class was generated as
  return ParseStratum(text, WithoutBlanks(lines.Next()));
}

std::optional<SourceMap> SourceMap::ParseStratum(std::string_view text, std::string_view stratum) {
  Lines lines(text);
  if (WithoutBlanks(lines.Next()) != "SMAP" || stratum.empty()) return std::nullopt;
  SourceMap map;
  map.stratum_ = stratum;
  bool found = false;
  bool inside = false;
  int embedded = 0;  // maps of files that the source was itself made of
  while (!lines.AtEnd()) {
    const std::string_view line = lines.Next();
    if (line.starts_with("*O")) ++embedded;
    if (line.starts_with("*C")) --embedded;
    if (line.starts_with("*E") && embedded == 0) break;
    if (embedded != 0) continue;
    if (line.starts_with("*S")) inside = WithoutBlanks(line.substr(2)) == stratum;
    found |= inside;
    if (inside && line.starts_with("*F")) map.ReadFiles(lines);
    if (inside && line.starts_with("*L")) map.ReadRanges(lines);
  }
  if (!found) return std::nullopt;
  std::stable_sort(map.ranges_.begin(), map.ranges_.end(),
                   [](const Range& a, const Range& b) { return a.first < b.first; });
  return map;
}

// "1 Util.kt", or "+ 1 Util.kt" and its path on a line of its own.
void SourceMap::ReadFiles(Lines& lines) {
  while (!lines.AtEnd() && !lines.AtSection()) {
    std::string_view line = WithoutBlanks(lines.Next());
    const bool has_path = TakeChar(line, '+');
    line = WithoutBlanks(line);
    const std::optional<int32_t> id = TakeNumber(line);
    const std::string_view name = WithoutBlanks(line);
    const std::string_view path = has_path && !lines.AtSection() ? WithoutBlanks(lines.Next()) : "";
    if (!id.has_value()) continue;
    file_numbers_.try_emplace(*id, static_cast<uint32_t>(files_.size()));
    files_.push_back({name, path.empty() ? name : path});
  }
}

void SourceMap::ReadRanges(Lines& lines) {
  int32_t file_id = 0;
  while (!lines.AtEnd() && !lines.AtSection()) AddRange(WithoutBlanks(lines.Next()), file_id);
}

// "SOURCE[#FILE][,COUNT]:LINE[,STEP]"; without FILE that of the row before.
void SourceMap::AddRange(std::string_view line, int32_t& file_id) {
  const std::optional<int32_t> source = TakeNumber(line);
  if (TakeChar(line, '#')) file_id = TakeNumber(line).value_or(-1);
  const int32_t count = TakeChar(line, ',') ? TakeNumber(line).value_or(0) : 1;
  if (!source.has_value() || count == 0 || !TakeChar(line, ':')) return;
  const std::optional<int32_t> first = TakeNumber(line);
  const int32_t step = TakeChar(line, ',') ? TakeNumber(line).value_or(1) : 1;
  const auto file = file_numbers_.find(file_id);
  if (!first.has_value() || file == file_numbers_.end()) return;
  Range range;
  range.first = *first;
  // A step of 0: all of these lines of the source are one line of the class file.
  const int64_t length = step == 0 ? 1 : int64_t{count} * step;
  range.last = static_cast<int32_t>(std::min<int64_t>(*first + length - 1, kMostLine));
  range.step = std::max(step, 1);
  range.source = *source;
  range.file = file->second;
  ranges_.push_back(range);
}

std::optional<SourceMap::Place> SourceMap::At(int32_t line) const {
  auto after = std::upper_bound(ranges_.begin(), ranges_.end(), line,
                                [](int32_t at, const Range& range) { return at < range.first; });
  // Ranges do not overlap in maps that compilers write, so the nearest one has the line, or none.
  if (after == ranges_.begin()) return std::nullopt;
  const Range& range = *std::prev(after);
  if (line > range.last) return std::nullopt;
  return Place{&files_[range.file], range.source + (line - range.first) / range.step};
}

}  // namespace jtrace::classfile
