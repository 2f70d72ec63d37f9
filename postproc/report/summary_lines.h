// The lines of the summary: a key, and a value that is shortened or broken to fit the width.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace jtrace::postproc {

class SummaryLines {
 public:
  static constexpr int kKeyWidth = 12;

  // `width` 0: no limit.
  SummaryLines(int width, std::ostream& out) : width_(width), out_(out) {}

  void Add(std::string_view key, std::string_view value);
  // Pieces joined by " · ", in as many lines as they need.
  void Add(std::string_view key, const std::vector<std::string>& pieces);

 private:
  const int width_;
  std::ostream& out_;
};

}  // namespace jtrace::postproc
