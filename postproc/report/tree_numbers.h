// The numbers before the names of a tree's nodes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/report/report.h"

namespace jtrace::postproc {

class TreeNumbers {
 public:
  explicit TreeNumbers(const ReportInput& input);

  struct Values {
    bool share = true;
    int64_t total = 0, self = 0;    // of the measure
    int64_t time = 0, waiting = 0;  // of the clock
    int64_t calls = 0;

    bool operator==(const Values&) const = default;
  };
  // With the blanks before the name; 0 is blank, except for a total. Valid until the next call.
  const std::string& Line(const Values& values);
  std::string Header() const;
  std::string Blank() const { return std::string(static_cast<size_t>(width_), ' '); }
  int width() const { return width_; }
  // "time, waiting": for which a line has no room.
  std::string LeftOut() const;

 private:
  // Most nodes of a large tree have the numbers of others.
  struct KeptLine {
    Values values;
    std::string line;  // empty: none is kept
  };

  std::string NewLine(const Values& values) const;
  std::string Join(std::string_view share, std::string_view total, std::string_view self,
                   std::string_view time, std::string_view waiting, std::string_view calls) const;

  const ReportInput& input_;
  const bool has_amounts_;
  bool has_time_ = false, has_waiting_ = false;      // to show
  bool shows_time_ = false, shows_waiting_ = false;  // and there is room
  int share_width_ = 8, amount_width_ = 10, time_width_ = 10, calls_width_ = kCallsWidth;
  int width_ = 0;
  std::vector<KeptLine> kept_;  // by a hash of the values
};

}  // namespace jtrace::postproc
