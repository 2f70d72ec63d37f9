#include "postproc/model/record_visitor.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kNames[kSampleStates] = {"running", "unknown",  "monitor", "object-wait",
                                                    "parked",  "sleeping", "waiting", "blocked"};

}  // namespace

std::string_view SampleStateName(SampleState state) { return kNames[static_cast<size_t>(state)]; }

std::optional<SampleState> ParseSampleState(std::string_view name) {
  for (size_t i = 0; i < kSampleStates; ++i) {
    if (kNames[i] == name) return static_cast<SampleState>(i);
  }
  return std::nullopt;
}

}  // namespace jtrace::postproc
