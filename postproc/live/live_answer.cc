#include "postproc/live/live_answer.h"

#include <nlohmann/json.hpp>

namespace jtrace::live {
namespace {

const char* NameOf(LiveState::Phase phase) {
  switch (phase) {
    case LiveState::Phase::kLive:
      return "live";
    case LiveState::Phase::kStopped:
      return "stopped";
    case LiveState::Phase::kEnded:
      break;
  }
  return "ended";
}

}  // namespace

std::string LiveAnswer(const LiveJvmFacts& jvm, const LiveState& state, uint64_t after,
                       std::chrono::steady_clock::time_point now) {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  nlohmann::json answer = {{"state", NameOf(state.phase)}, {"pid", jvm.pid},
                           {"program", jvm.program},       {"message", state.message},
                           {"serial", state.serial},       {"cost_ms", state.cost.count()}};
  if (state.serial != 0) answer["age_ms"] = duration_cast<milliseconds>(now - state.made).count();
  if (state.serial > after) answer["data"] = state.data;
  // Command lines of programs may contain any bytes.
  return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace jtrace::live
