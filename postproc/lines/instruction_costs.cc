#include "postproc/lines/instruction_costs.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "common/classfile/opcodes.h"
#include "common/nearest.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kTable =
#include "instruction_costs.inc"
    ;

constexpr int64_t kMostCycles = 1'000'000;
constexpr size_t kOpcodes = 202;

std::vector<std::string_view> WordsOf(std::string_view line) {
  std::vector<std::string_view> words;
  for (const std::string_view word : Split(line.substr(0, line.find('#')), ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::array<std::string_view, 256> ReadNames() {
  std::array<std::string_view, 256> names;
  for (const std::string_view line : Split(kTable, '\n')) {
    const std::vector<std::string_view> words = WordsOf(line);
    int64_t opcode = 0;
    if (words.size() == 3 && ParseInteger(words[0], opcode)) {
      names[static_cast<uint8_t>(opcode)] = words[1];
    }
  }
  return names;
}

const std::array<std::string_view, 256>& Names() {
  static const std::array<std::string_view, 256> names = ReadNames();
  return names;
}

}  // namespace

std::string_view InstructionCosts::NameOf(uint8_t opcode) { return Names()[opcode]; }

uint32_t InstructionCosts::CyclesAt(absl::Span<const uint8_t> code, uint32_t bci) const {
  const uint8_t opcode = code[bci];
  return CyclesOf(opcode == classfile::kOpWide ? code[bci + 1] : opcode);
}

const InstructionCosts& InstructionCosts::Standard() {
  static const InstructionCosts* const standard = [] {
    auto* costs = new InstructionCosts;
    costs->Apply(kTable).IgnoreError();  // the build's own table: a test reads all of it
    return costs;
  }();
  return *standard;
}

absl::StatusOr<InstructionCosts> InstructionCosts::WithRules(std::string_view rules) {
  InstructionCosts costs = Standard();
  if (absl::Status status = costs.Apply(rules); !status.ok()) return status;
  return costs;
}

absl::Status InstructionCosts::Apply(std::string_view rules) {
  int number = 0;
  for (const std::string_view line : Split(rules, '\n')) {
    ++number;
    const std::vector<std::string_view> words = WordsOf(line);
    if (words.empty()) continue;
    const std::string_view name = words.size() == 3 ? words[1] : words[0];
    int64_t cycles = 0;
    if (words.size() < 2 || words.size() > 3 || !ParseInteger(words.back(), cycles) || cycles < 0 ||
        cycles > kMostCycles) {
      return absl::InvalidArgumentError(
          StrCat("line ", number, ": needs an instruction and its cycles, such as: idiv 20"));
    }
    const auto& names = Names();
    const auto last = names.begin() + kOpcodes;
    const auto found = std::find(names.begin(), last, name);
    if (found == last) {
      return absl::InvalidArgumentError(
          StrCat("line ", number, ": no instruction '", name,
                 "'; nearest: ", Nearest(name, absl::MakeConstSpan(names).first(kOpcodes))));
    }
    cycles_[static_cast<size_t>(found - names.begin())] = static_cast<uint32_t>(cycles);
  }
  return absl::OkStatus();
}

}  // namespace jtrace::postproc
