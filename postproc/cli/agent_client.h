// Requests to the agent in a JVM (proto/control_protocol.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/cli/jvm_process.h"

namespace jtrace::control {

// Splits an arriving answer into lines. Another user may control their content.
class AnswerReader {
 public:
  // More than an agent sends (agent/control/README.md).
  static constexpr size_t kMostBytes = size_t{32} << 20;

  using TakeLine = std::function<void(char kind, std::string_view text)>;
  explicit AnswerReader(TakeLine take) : take_(std::move(take)) {}

  // False: it is longer than kMostBytes; the rest is left out.
  bool Add(std::string_view bytes);
  // The command's exit code; -1: the answer was cut off.
  int exit_code() const { return exit_code_; }

 private:
  void AddLine(std::string_view line);

  TakeLine take_;
  std::string rest_;
  size_t bytes_ = 0;
  int exit_code_ = -1;
};

// How long an answer may take.
struct Patience {
  std::chrono::milliseconds silence = std::chrono::minutes(2);
  std::chrono::milliseconds in_all = std::chrono::minutes(30);
};

// Whether an agent answers in this JVM.
bool HasAgent(const JvmProcess& jvm);

// Sends one request and passes on the answer's lines as they arrive. Returns the command's exit
// code. NotFound if no agent listens; Unavailable if the answer is cut off; DeadlineExceeded if it
// takes too long; ResourceExhausted if it is too long.
absl::StatusOr<int> Ask(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
                        AnswerReader::TakeLine take, const Patience& patience = {});

}  // namespace jtrace::control
