// What share of a method's own cost each of its lines has (S4.18).
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "postproc/lines/selected_methods.h"
#include "postproc/report/line_value.h"

namespace jtrace::postproc {

// What the shares of a report are of: the value beside the counts, or cycles where there is none.
LineValue ShareValueOf(const ReportInput& input);
// "self time", "cycles"
std::string_view ShareValueName(LineValue value);

class LineShares {
 public:
  // Of the methods of one file, which outlive it.
  LineShares(const Methods& methods, LineValue value);

  // Whether any line has a share above 0.
  bool has_any() const { return has_any_; }

  // In percent; none: the line has no code, or its method no cost. Of a line that several methods
  // have, such as a lambda's, that of the method that has the most of its cost.
  std::optional<double> Of(int32_t line) const;
  // Of a part of the method's cost.
  std::optional<double> Of(const MethodLines& method, uint64_t part) const;

 private:
  struct Share {
    uint64_t part = 0;
    double percent = 0;
  };
  absl::flat_hash_map<const MethodLines*, uint64_t> whole_;
  absl::flat_hash_map<int32_t, Share> by_line_;
  bool has_any_ = false;
};

}  // namespace jtrace::postproc
