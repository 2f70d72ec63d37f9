// How far a command is: a bar on a terminal, else a line now and then.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace jtrace::control {

// "[#####...............]  25 %  " and the text, of an agent's progress "1/4 text"; the text alone
// if it does not begin with two numbers.
std::string WithBar(std::string_view progress);

class ProgressView {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  // On no terminal, lines are this far apart, so that short work has none.
  static constexpr std::chrono::seconds kBetweenLines{5};

  ProgressView(std::ostream& out, bool is_terminal, Now now = &std::chrono::steady_clock::now)
      : out_(out), is_terminal_(is_terminal), now_(std::move(now)), last_line_(now_()) {}

  void Show(std::string_view progress);
  // Before anything else is printed.
  void End();

 private:
  std::ostream& out_;
  const bool is_terminal_;
  const Now now_;
  std::chrono::steady_clock::time_point last_line_;
  bool is_shown_ = false;
};

}  // namespace jtrace::control
