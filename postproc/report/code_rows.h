// The instructions of a listing's methods, by the line that shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/btree_map.h"
#include "postproc/lines/method_codes.h"
#include "postproc/report/source_listing.h"

namespace jtrace::postproc {

// A run of instructions of one version of a method.
struct MethodInstructions {
  const MethodLines* method = nullptr;
  std::vector<InstructionCounts> instructions;
};

class CodeRows {
 public:
  // Of the selected methods of `listing`.
  CodeRows(const SourceListing& listing, MethodCodes& codes);

  // Null: none on that line.
  const std::vector<MethodInstructions>* Of(int32_t line) const;
  // Those that no line of the source shows: of methods without line numbers, and of code that a
  // compiler made.
  const std::vector<MethodInstructions>& without_line() const { return without_line_; }

 private:
  absl::btree_map<int32_t, std::vector<MethodInstructions>> by_line_;
  std::vector<MethodInstructions> without_line_;
};

// "iload_1", "invokestatic  Method f:(I)Z"
std::string InstructionText(const InstructionCounts& instruction);

}  // namespace jtrace::postproc
