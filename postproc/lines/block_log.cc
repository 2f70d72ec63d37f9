#include "postproc/lines/block_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "common/classfile/class_file.h"
#include "postproc/lines/line_builder.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

using classfile::CounterKind;
using classfile::CounterPlace;

// "key=123"
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  int64_t number = 0;
  if (!ConsumePrefix(text, key) || !ParseInteger(text, number)) return std::nullopt;
  return number;
}

// "b12", without its count.
std::optional<CounterPlace> PlaceOf(std::string_view text) {
  constexpr std::string_view kLetters = "bfts";
  int64_t bci = 0;
  if (text.empty() || kLetters.find(text[0]) == std::string_view::npos ||
      !ParseInteger(text.substr(1), bci) || bci < 0 || bci > classfile::kMaxU2) {
    return std::nullopt;
  }
  return CounterPlace{static_cast<CounterKind>(kLetters.find(text[0])), static_cast<uint16_t>(bci)};
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::vector<uint8_t>> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::vector<uint8_t> bytes;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = DigitOf(text[i]), low = DigitOf(text[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  return bytes;
}

// Adds the lines of one version of a method to those of another.
void AddTo(const MethodLines& from, MethodLines& into) {
  into.calls += from.calls;
  into.instructions += from.instructions;
  into.cycles += from.cycles;
  for (const LineCounts& line : from.lines) {
    const auto at =
        std::lower_bound(into.lines.begin(), into.lines.end(), line.line,
                         [](const LineCounts& a, int32_t number) { return a.line < number; });
    if (at == into.lines.end() || at->line != line.line) {
      into.lines.insert(at, line);
      continue;
    }
    at->executions += line.executions;
    at->instructions += line.instructions;
    at->cycles += line.cycles;
    at->branches = std::max(at->branches, line.branches);
    at->branches_taken = std::max(at->branches_taken, line.branches_taken);
    at->blocks.resize(std::max(at->blocks.size(), line.blocks.size()));
    for (size_t i = 0; i < line.blocks.size(); ++i) at->blocks[i] += line.blocks[i];
  }
}

}  // namespace

void BlockLog::OnNotice(At, std::string_view op, absl::Span<const std::string> args) {
  if (op == "class-code") AddClass(args);
  if (op == "blocks") AddMethod(args);
}

// code=1, its name, its bytes in hexadecimal digits.
void BlockLog::AddClass(absl::Span<const std::string> args) {
  if (args.size() != 3) return;
  const std::optional<int64_t> number = NumberAfter(args[0], "code=");
  std::optional<std::vector<uint8_t>> bytes = FromHex(args[2]);
  if (!number.has_value() || !bytes.has_value()) return;
  by_number_[*number] = classes_.size();
  classes_.push_back({args[1], *std::move(bytes)});
}

// code=1, method=2, the routine, calls=3, and then b12=34 and the like.
void BlockLog::AddMethod(absl::Span<const std::string> args) {
  if (args.size() < 3) return;
  const std::optional<int64_t> code = NumberAfter(args[0], "code=");
  const std::optional<int64_t> index = NumberAfter(args[1], "method=");
  const auto found = code.has_value() ? by_number_.find(*code) : by_number_.end();
  if (found == by_number_.end() || !index.has_value() || *index < 0) return;
  Method method;
  method.class_code = found->second;
  method.index = static_cast<uint32_t>(*index);
  method.routine = model_.InternRoutine(args[2]);
  for (const std::string& arg : args.subspan(3)) {
    if (const auto calls = NumberAfter(arg, "calls=")) {
      method.calls = calls;
      continue;
    }
    const std::vector<std::string_view> parts = Split(arg, '=');
    int64_t count = 0;
    const bool counted = parts.size() == 2 && ParseInteger(parts[1], count);
    if (const auto place = PlaceOf(parts[0])) {
      method.counters.push_back({*place, count});
    } else if (const auto bci = NumberAfter(parts[0], "o"); bci.has_value() && counted) {
      method.open.push_back({static_cast<uint16_t>(*bci), count});
    }
  }
  methods_.push_back(std::move(method));
}

LineProfile BlockLog::Lines(const InstructionCosts& costs) const {
  LineProfile profile;
  std::map<std::pair<std::string, std::string>, MethodLines> merged;
  size_t last = classes_.size();
  absl::StatusOr<classfile::ClassFile> file = absl::UnknownError("none yet");
  for (const Method& method : methods_) {
    const ClassCode& code = classes_[method.class_code];
    if (method.class_code != last) file = classfile::ParseClassFile(code.bytes);
    last = method.class_code;
    if (!file.ok() || method.index >= file->methods.size()) continue;
    const LineBuilder builder(*file, method.index, costs);
    std::optional<MethodLines> lines = builder.Build(method.counters, method.open, method.calls);
    if (!lines.has_value()) {
      ++profile.methods_not_counted;
      continue;
    }
    lines->routine = method.routine;
    lines->class_name = code.name;
    const std::string_view name = model_.RoutineName(method.routine);
    const bool has_class = name.starts_with(code.name) && name.size() > code.name.size();
    lines->name = has_class ? std::string(name.substr(code.name.size() + 1)) : builder.name();
    const auto [at, added] = merged.try_emplace({code.name, lines->name}, *lines);
    if (!added) AddTo(*lines, at->second);
  }
  for (auto& [key, lines] : merged) profile.methods.push_back(std::move(lines));
  std::stable_sort(profile.methods.begin(), profile.methods.end(),
                   [](const MethodLines& a, const MethodLines& b) {
                     const int32_t x = a.lines.empty() ? 0 : a.lines[0].line;
                     const int32_t y = b.lines.empty() ? 0 : b.lines[0].line;
                     return std::tie(a.class_name, x, a.name) < std::tie(b.class_name, y, b.name);
                   });
  return profile;
}

}  // namespace jtrace::postproc
