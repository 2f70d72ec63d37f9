// Requests to the agent in a JVM (proto/control_protocol.h).
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "postproc/control/jvm_process.h"

namespace jtrace::control {

// An answer as it comes in: takes bytes, gives lines.
class AnswerReader {
 public:
  using TakeLine = std::function<void(char kind, std::string_view text)>;
  explicit AnswerReader(TakeLine take) : take_(std::move(take)) {}

  void Add(std::string_view bytes);
  // The command's exit code; -1: the answer was cut off.
  int exit_code() const { return exit_code_; }

 private:
  void AddLine(std::string_view line);

  TakeLine take_;
  std::string rest_;
  int exit_code_ = -1;
};

// Whether an agent answers in this JVM.
bool HasAgent(const JvmProcess& jvm);

// Sends one request and hands the answer's lines on as they come. Returns the command's exit code.
// NotFound if no agent listens; Unavailable if the answer is cut off; DeadlineExceeded if nothing
// comes for `patience` (zero: waits for ever).
absl::StatusOr<int> Ask(const JvmProcess& jvm, std::string_view verb, std::string_view argument,
                        AnswerReader::TakeLine take,
                        std::chrono::milliseconds patience = std::chrono::milliseconds::zero());

}  // namespace jtrace::control
