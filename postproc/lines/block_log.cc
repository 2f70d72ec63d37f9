#include "postproc/lines/block_log.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "postproc/lines/class_source.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

using classfile::CounterKind;
using classfile::CounterPosition;

// "key=123"
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  int64_t number = 0;
  if (!ConsumePrefix(text, key) || !ParseInteger(text, number)) return std::nullopt;
  return number;
}

// "b12", without its count.
std::optional<CounterPosition> PositionOf(std::string_view text) {
  constexpr std::string_view kLetters = "bfts";
  int64_t bci = 0;
  if (text.empty() || kLetters.find(text[0]) == std::string_view::npos ||
      !ParseInteger(text.substr(1), bci) || bci < 0 || bci > classfile::kMaxU2) {
    return std::nullopt;
  }
  return CounterPosition{static_cast<CounterKind>(kLetters.find(text[0])),
                         static_cast<uint16_t>(bci)};
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
  into.calls = AddCounts(into.calls, from.calls);
  into.instructions = AddCounts(into.instructions, from.instructions);
  into.cycles = AddCounts(into.cycles, from.cycles);
  for (const LineCounts& line : from.lines) AddCopy(line, LineOf(into.lines, line.line));
}

void AddTicks(const TicksByBci& places, const LineBuilder& builder, MethodLines& lines) {
  for (const auto& [bci, ticks] : places) {
    LineCounts* line = FindLine(lines.lines, builder.LineAt(bci));
    if (line != nullptr) line->ticks = WrapAdd(line->ticks, ticks);
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
  std::optional<int64_t> path;
  Method method;
  method.class_code = found->second;
  method.index = static_cast<uint32_t>(*index);
  method.routine = model_.InternRoutine(args[2]);
  for (const std::string& arg : args.subspan(3)) {
    if (const auto number = NumberAfter(arg, "path=")) {
      path = number;
      continue;
    }
    if (const auto calls = NumberAfter(arg, "calls=")) {
      method.counts.calls = calls;
      continue;
    }
    const std::vector<std::string_view> parts = Split(arg, '=');
    int64_t count = 0;
    const bool counted = parts.size() == 2 && ParseInteger(parts[1], count);
    if (const auto position = PositionOf(parts[0])) {
      method.counts.counters.push_back({*position, count});
    } else if (const auto bci = NumberAfter(parts[0], "o"); bci.has_value() && counted) {
      method.counts.open.push_back({static_cast<uint16_t>(*bci), count});
    }
  }
  if (path.has_value() && *path > 0 && *path <= UINT32_MAX) {
    Code& by_path =
        by_path_[{static_cast<uint32_t>(model_.traces().size() - 1), static_cast<uint32_t>(*path)}];
    by_path = {method.class_code, method.index, {}};
    for (const PlacedCount& counter : method.counts.counters)
      by_path.places.push_back(counter.place);
  }
  methods_.push_back(std::move(method));
}

const BlockLog::Code* BlockLog::CodeOf(uint32_t trace, uint32_t number) const {
  const auto found = by_path_.find({trace, number});
  return found == by_path_.end() ? nullptr : &found->second;
}

std::string BlockLog::NameOf(const Method& method) const {
  const std::string& class_name = classes_[method.class_code].name;
  const std::string_view name = model_.RoutineName(method.routine);
  const bool has_class = name.starts_with(class_name) && name.size() > class_name.size();
  return has_class ? std::string(name.substr(class_name.size() + 1)) : "";
}

LineProfile BlockLog::Lines(const InstructionCosts& costs, const LineTicks* ticks,
                            InlinedLines& inlined) const {
  LineProfile profile;
  std::map<std::tuple<std::string, std::string, std::string>, MethodLines> merged;
  const auto add = [&](const MethodLines& lines) {
    const auto [at, added] =
        merged.try_emplace({lines.class_name, lines.name, lines.source_path}, lines);
    if (!added) AddTo(lines, at->second);
  };
  // Each class is parsed once, in whatever order its methods were recorded.
  std::vector<const Method*> by_class;
  for (const Method& method : methods_) by_class.push_back(&method);
  std::stable_sort(by_class.begin(), by_class.end(),
                   [](const Method* a, const Method* b) { return a->class_code < b->class_code; });
  ParsedClass parsed;
  absl::flat_hash_set<RoutineId> with_ticks;
  for (const Method* each : by_class) {
    const Method& method = *each;
    const ClassCode& code = classes_[method.class_code];
    if (!parsed.Parse(method.class_code, code.bytes, method.index)) continue;
    const LineBuilder builder(*parsed.file, method.index, costs);
    std::optional<MethodLines> lines = builder.Build(method.counts);
    if (!lines.has_value()) {
      ++profile.methods_not_counted;
      continue;
    }
    lines->routine = method.routine;
    lines->class_name = code.name;
    lines->name = NameOf(method);
    if (lines->name.empty()) lines->name = builder.name();
    // Samples do not distinguish the versions of a class: they count in the first one.
    const TicksByBci* places = ticks != nullptr ? ticks->Of(method.routine) : nullptr;
    if (places != nullptr && with_ticks.insert(method.routine).second) {
      AddTicks(*places, builder, *lines);
    }
    std::vector<MethodLines> parts;
    parsed.source->Place(*lines, parts, inlined);
    add(*lines);
    for (const MethodLines& part : parts) add(part);
  }
  for (auto& [key, lines] : merged) profile.methods.push_back(std::move(lines));
  return profile;
}

LineProfile BlockLog::Lines(const InstructionCosts& costs) const {
  InlinedLines inlined;
  LineProfile profile = Lines(costs, nullptr, inlined);
  inlined.PlaceInto([](std::string_view) { return true; }, profile);
  SortMethods(profile);
  return profile;
}

void SortMethods(LineProfile& profile) {
  std::stable_sort(profile.methods.begin(), profile.methods.end(),
                   [](const MethodLines& a, const MethodLines& b) {
                     const int32_t x = a.lines.empty() ? 0 : a.lines[0].line;
                     const int32_t y = b.lines.empty() ? 0 : b.lines[0].line;
                     return std::tie(a.class_name, x, a.name) < std::tie(b.class_name, y, b.name);
                   });
}

}  // namespace jtrace::postproc
