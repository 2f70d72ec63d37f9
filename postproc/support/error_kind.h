// What an error is about, where its code does not say it: what remains to be done about it depends
// on that, and messages are for people only.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/cord.h"

namespace jtrace::postproc {

enum class ErrorKind : char {
  kOther = ' ',
  kUsage = 'u',   // the command line
  kOutput = 'o',  // the place that is written to
  kMemory = 'm',  // this machine's memory, not what a trace may take
};

inline constexpr char kErrorKindUrl[] = "jtrace/error-kind";

inline ErrorKind KindOf(const absl::Status& status) {
  const auto kind = status.GetPayload(kErrorKindUrl);
  return kind.has_value() && !kind->empty() ? static_cast<ErrorKind>((*kind)[0])
                                            : ErrorKind::kOther;
}

// Ok stays ok.
inline absl::Status OfKind(ErrorKind kind, absl::Status status) {
  if (!status.ok())
    status.SetPayload(kErrorKindUrl, absl::Cord(std::string(1, static_cast<char>(kind))));
  return status;
}

inline absl::Status UsageError(absl::Status status) {
  return OfKind(ErrorKind::kUsage, std::move(status));
}

}  // namespace jtrace::postproc
