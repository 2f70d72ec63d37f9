// How traces leave their folder.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "postproc/ship/backoff.h"
#include "postproc/ship/sealed_traces.h"

namespace jtrace::ship {

// A file that was put there under the name of a trace since it was looked at stays.
class TraceMover {
 public:
  using Say = std::function<void(std::string_view line)>;

  TraceMover(std::string folder, uint32_t seed, Say say)
      : folder_(std::move(folder)), say_(std::move(say)), backoff_(seed) {}

  // An error if the folders that the shipper makes are somebody else's.
  absl::Status Check() const;
  // False while a move that failed is not tried again.
  bool IsReady() const;
  // To DIR/`below`; the name that it has there. None if it is where it was: why is said once.
  std::optional<std::string> Move(const SealedTrace& trace, std::string_view below);
  // Puts a line beside a trace that was moved.
  void Explain(const std::string& name, std::string_view below, const std::string& reason);
  // False if it is still there, or another one is.
  bool Remove(const SealedTrace& trace);

 private:
  void Failed(const absl::Status& status);

  const std::string folder_;
  const Say say_;
  Backoff backoff_;
};

}  // namespace jtrace::ship
