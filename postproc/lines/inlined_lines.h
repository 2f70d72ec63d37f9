// Lines of functions that a compiler copied into other methods (Kotlin's inline functions): brought
// back to the methods that they are lines of.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

class InlinedLines {
 public:
  // Where the code was copied to; line 0: not known.
  struct Call {
    std::string class_name;
    std::string method;
    int32_t line = 0;
  };

  // `line`: with its number in `source_file`, as a copy in one method counts it; `class_name`
  // declares the function.
  void Add(const std::string& class_name, const std::string& source_file, const LineCounts& line,
           const Call& call);

  // Adds them to the lines of the methods that they are of. Lines of classes of the profile or in
  // scope, of which no method has them, become parts of these classes. Of classes out of scope (the
  // library's) the line with the call gets the instructions. The profile need not be sorted.
  void PlaceInto(absl::FunctionRef<bool(std::string_view class_name)> is_in_scope,
                 LineProfile& profile) const;

 private:
  struct Copies {
    LineCounts sum;
    // Of each copy: what the line of its call gets.
    std::vector<std::pair<Call, LineCounts>> calls;
  };
  // By class, file, line.
  absl::btree_map<std::tuple<std::string, std::string, int32_t>, Copies> lines_;
};

}  // namespace jtrace::postproc
