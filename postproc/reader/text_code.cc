#include "postproc/reader/text_code.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "postproc/support/strings.h"

namespace jtrace::postproc::text {
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

}  // namespace jtrace::postproc::text
