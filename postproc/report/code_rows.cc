#include "postproc/report/code_rows.h"

#include <algorithm>
#include <utility>

#include "postproc/support/strings.h"

namespace jtrace::postproc {

CodeRows::CodeRows(const SourceListing& listing, MethodCodes& codes) {
  for (const MethodLines* method : listing.selected) {
    for (MethodCode& version : codes.Of(*method)) {
      // A line may have several pieces of a method: they follow each other.
      absl::btree_map<int32_t, std::vector<InstructionCounts>> by_line;
      for (InstructionCounts& instruction : version.instructions) {
        by_line[instruction.line].push_back(std::move(instruction));
      }
      for (auto& [line, instructions] : by_line) {
        auto& rows = line > 0 ? by_line_[line] : without_line_;
        rows.push_back({method, std::move(instructions)});
      }
    }
  }
}

const std::vector<MethodInstructions>* CodeRows::Of(int32_t line) const {
  const auto found = by_line_.find(line);
  return found == by_line_.end() ? nullptr : &found->second;
}

std::string InstructionText(const InstructionCounts& instruction) {
  if (instruction.operands.empty()) return instruction.mnemonic;
  constexpr size_t kMnemonicWidth = 14;
  std::string text = instruction.mnemonic;
  text.resize(std::max(text.size() + 1, kMnemonicWidth), ' ');
  return text + instruction.operands;
}

}  // namespace jtrace::postproc
