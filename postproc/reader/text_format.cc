#include "postproc/reader/text_format.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/visible_text.h"
#include "postproc/model/path_step.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::text {

namespace {

// The first byte of every escaped character except the backslash: C0 and DEL are themselves, C1
// begins with 0xC2, surrogates with 0xED.
bool MayBeEscaped(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F || byte == 0xC2 || byte == 0xED || c == '\\';
}

// The value of `digits` hexadecimal digits; -1: there are fewer.
int HexValue(std::string_view text, size_t digits) {
  if (text.size() < digits) return -1;
  int value = 0;
  const char* const end = text.data() + digits;
  const auto result = std::from_chars(text.data(), end, value, 16);
  return result.ec == std::errc() && result.ptr == end && text[0] != '-' ? value : -1;
}

// Appends the meaning of the escape at the beginning of `text`. Returns its length; 0: not an
// escape.
size_t AppendUnescaped(std::string& out, std::string_view text) {
  if (text.size() < 2) return 0;
  switch (text[1]) {
    case 't':
      out.push_back('\t');
      return 2;
    case 'n':
      out.push_back('\n');
      return 2;
    case '\\':
      out.push_back('\\');
      return 2;
    case 'x':
    case 'u': {
      const size_t digits = text[1] == 'x' ? 2 : 4;
      const int code = HexValue(text.substr(2), digits);
      if (code < 0) return 0;
      AppendUtf8(out, static_cast<char32_t>(code));
      return 2 + digits;
    }
    default:
      return 0;
  }
}

}  // namespace

void AppendEscaped(std::string& out, std::string_view field) {
  while (!field.empty()) {
    const auto plain = std::find_if(field.begin(), field.end(), MayBeEscaped);
    out.append(field.begin(), plain);
    field.remove_prefix(static_cast<size_t>(plain - field.begin()));
    if (field.empty()) return;
    const Character c = FirstCharacter(field);
    if (c.code == '\t' || c.code == '\n' || c.code == '\\') {
      out += c.code == '\t' ? "\\t" : c.code == '\n' ? "\\n" : "\\\\";
    } else if (c.is_valid && (IsControl(c.code) || IsSurrogate(c.code))) {
      AppendEscape(out, c.code);
    } else {
      out.append(field.substr(0, c.bytes));
    }
    field.remove_prefix(c.bytes);
  }
}

void AppendEscapedKey(std::string& out, std::string_view key) {
  const size_t begin = out.size();
  AppendEscaped(out, key);
  for (size_t at = begin; (at = out.find(',', at)) != std::string::npos; at += 2) {
    out.insert(at, 1, '\\');
  }
}

std::string_view NextPair(std::string_view& list) {
  size_t end = 0;
  while (end < list.size() && list[end] != ',') end += list[end] == '\\' ? 2 : 1;
  end = std::min(end, list.size());
  const std::string_view pair = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return pair;
}

std::string WithPlainCommas(std::string_view key) {
  std::string plain;
  for (size_t i = 0; i < key.size(); ++i) {
    const bool is_escape = key[i] == '\\' && i + 1 < key.size();
    if (is_escape && key[i + 1] != ',') plain.push_back(key[i]);
    if (is_escape) ++i;
    plain.push_back(key[i]);
  }
  return plain;
}

void AppendPlace(std::string& out, CallSite place) {
  if (place == kNoCallSite) return;
  out.push_back('\\');
  out += PlaceText(place);
}

CallSite TakePlace(std::string_view& field) {
  const size_t digits = field.find_last_not_of("0123456789") + 1;
  if (digits < 2 || digits >= field.size()) return kNoCallSite;
  const char kind = field[digits - 1];
  if (kind != ':' && kind != '@') return kNoCallSite;
  // The backslash itself may be escaped.
  const size_t name = field.substr(0, digits - 1).find_last_not_of('\\') + 1;
  if ((digits - 1 - name) % 2 == 0) return kNoCallSite;
  int64_t parsed = 0;
  if (!ParseInteger(field.substr(digits), parsed) || parsed > kMaxInCallSite) return kNoCallSite;
  const auto number = static_cast<uint32_t>(parsed);
  const CallSite place = kind == ':' ? CallSiteOfLine(number) : CallSiteOfBci(number);
  if (place != kNoCallSite) field = field.substr(0, digits - 2);
  return place;
}

std::string_view Unescape(std::string_view field, std::string& storage) {
  if (field.find('\\') == std::string_view::npos) return field;
  storage.clear();
  while (!field.empty()) {
    const size_t escape = std::min(field.find('\\'), field.size());
    storage.append(field.substr(0, escape));
    field.remove_prefix(escape);
    if (field.empty()) break;
    size_t length = AppendUnescaped(storage, field);
    if (length == 0) storage.append(field.substr(0, length = 1));
    field.remove_prefix(length);
  }
  return storage;
}

namespace {

constexpr std::string_view kOps[] = {"jit-load", "jit-unload", "jit-inlining"};

uint64_t ParseUnsigned(std::string_view digits, int base) {
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return value;
}

uint32_t ParseNumber(std::string_view digits) {
  return static_cast<uint32_t>(ParseUnsigned(digits, 10));
}

}  // namespace

std::string_view CodeOp(CodeRecord::Op op) { return kOps[static_cast<size_t>(op)]; }

std::optional<CodeRecord::Op> ParseCodeOp(std::string_view op) {
  const auto found = std::find(std::begin(kOps), std::end(kOps), op);
  if (found == std::end(kOps)) return std::nullopt;
  return static_cast<CodeRecord::Op>(found - std::begin(kOps));
}

CodeFields::CodeFields(CodeRecord::Op op, absl::Span<const std::string> args, TraceModel& model) {
  record_.op = op;
  record_.routine = model.InternRoutine("[unknown method]");
  if (args.empty()) return;
  record_.routine = model.frame(model.InternFrameText(args[0])).routine;
  args.remove_prefix(1);
  for (; !args.empty() && !args[0].starts_with("@"); args.remove_prefix(1)) {
    std::string_view field = args[0];
    if (ConsumePrefix(field, "address=0x")) record_.address = ParseUnsigned(field, 16);
    if (ConsumePrefix(field, "size=")) record_.size = ParseUnsigned(field, 10);
    if (ConsumePrefix(field, "method=")) record_.method = ParseNumber(field);
    if (op == CodeRecord::Op::kLoad) ReadLoad(field);
  }
  if (op == CodeRecord::Op::kInlining) ReadRows(args, model);
}

void CodeFields::ReadLoad(std::string_view field) {
  if (field == "native") record_.native_wrapper = true;
  if (ConsumePrefix(field, "level=")) record_.level = ParseNumber(field);
  if (ConsumePrefix(field, "osr=")) record_.osr_entry = ParseNumber(field);
  if (ConsumePrefix(field, "bytecodes=")) record_.bytecodes = ParseNumber(field);
  if (ConsumePrefix(field, "modifiers=")) record_.modifiers = ParseNumber(field);
}

void CodeFields::ReadRows(absl::Span<const std::string> args, TraceModel& model) {
  frames_.reserve(args.size());  // rows point into it
  for (const std::string& arg : args) {
    std::string_view field = arg;
    if (ConsumePrefix(field, "@")) {
      rows_.push_back({static_cast<uint32_t>(ParseUnsigned(field, 10)), {}});
      continue;
    }
    const size_t blank = field.find(' ');
    int64_t bci = 0;
    const std::string_view numbers = field.substr(0, blank);
    const size_t slash = std::min(numbers.find('/'), numbers.size());
    if (blank == std::string_view::npos || !ParseInteger(numbers.substr(0, slash), bci)) continue;
    const std::string_view bytecodes = numbers.substr(slash);
    frames_.push_back({model.InternRoutine(field.substr(blank + 1)), static_cast<int32_t>(bci),
                       bytecodes.empty() ? 0 : ParseNumber(bytecodes.substr(1))});
    CodeRecord::Row& row = rows_.back();
    row.frames = {row.frames.empty() ? &frames_.back() : row.frames.data(), row.frames.size() + 1};
  }
  record_.rows = rows_;
}

namespace {

constexpr std::pair<std::string_view, int64_t HookSums::*> kKeys[] = {
    {"calls", &HookSums::calls},
    {"timed", &HookSums::timed},
    {"total", &HookSums::total_ns},
    {"min", &HookSums::min_ns},
    {"max", &HookSums::max_ns}};

// "timed=2"; false if it is not one of the keys with a number from 0 on.
bool ParsePair(std::string_view pair, HookSums& sums) {
  const size_t equals = pair.find('=');
  int64_t value = 0;
  if (equals == std::string_view::npos || !ParseInteger(pair.substr(equals + 1), value) ||
      value < 0 || value > kMaxNumber) {
    return false;
  }
  for (const auto& [key, member] : kKeys) {
    if (key != pair.substr(0, equals)) continue;
    sums.*member = value;
    return true;
  }
  return false;
}

std::optional<HookSums> ParseSums(std::string_view text) {
  HookSums sums;
  for (const std::string_view pair : Split(text, ',')) {
    if (!ParsePair(pair, sums)) return std::nullopt;
  }
  // Without calls there are no times.
  if (sums.timed == 0) return HookSums{sums.calls, 0, 0, 0, 0};
  return sums;
}

}  // namespace

std::string HookSumsText(const HookSums& sums) {
  std::string text;
  for (const auto& [key, member] : kKeys) {
    if (!text.empty() && sums.timed == 0) break;
    StrAppend(&text, text.empty() ? "" : ",", key, "=", sums.*member);
  }
  return text;
}

std::optional<HookFields> HookFields::Parse(absl::Span<const std::string> args,
                                            absl::Span<const CallSite> places, TraceInfo& trace,
                                            TraceModel& model) {
  if (args.size() < 4 || args[0].empty()) return std::nullopt;
  const std::optional<HookKind> kind = ParseHookKind(args[1]);
  const std::optional<HookSums> sums = ParseSums(args[3]);
  if (!kind.has_value() || !sums.has_value()) return std::nullopt;
  HookFields fields;
  fields.record_.hook = model.InternFrameText(args[0]);
  fields.record_.kind = *kind;
  model.AddHooked(model.frame(fields.record_.hook).routine);
  trace.AddHook({fields.record_.hook, *kind, ""});
  if (!args[2].empty()) fields.record_.caller = model.InternFrameText(args[2]);
  fields.record_.sums = *sums;
  for (size_t i = 4; i < args.size(); ++i) {
    const FrameId id = model.InternFrameText(args[i]);
    const Frame& frame = model.frame(id);
    if (frame.is_tail_call) {
      fields.jumped_.push_back(id);
    } else {
      fields.path_.emplace_back(frame.routine, i == 4 ? kNoCallSite : places[i - 1]);
    }
  }
  return fields;
}

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
