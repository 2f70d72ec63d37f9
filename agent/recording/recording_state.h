// The states of a recording, and the steps between them.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace {

enum class RecordingState : uint8_t {
  kNew,       // its parts are being made
  kPrepared,  // at load, until VMInit begins it
  kRunning,   // callbacks come through the gate
  kFailing,   // they do not any more; the failure is being reported
  kFailed,    // its probes have to be taken out
  kRemoving,  // a start or a stop, or the control thread, takes them out
  kPaused,    // the rest of them has to be taken out by the control thread
};

// Whether a recording may get from one state into the other. It is retired from any.
constexpr bool MayFollow(RecordingState from, RecordingState to) {
  using enum RecordingState;
  switch (to) {
    case kNew:
      return false;
    case kPrepared:
      return from == kNew;
    case kRunning:
      return from == kPrepared;
    // A failure while the probes are taken out changes nothing.
    case kFailing:
      return from == kPrepared || from == kRunning;
    case kFailed:
      return from == kFailing;
    case kRemoving:
      return from == kRunning || from == kFailed || from == kPaused;
    case kPaused:
      return from == kRemoving;
  }
  return false;
}

// The state of one recording. Any thread: the writer's thread may fail while a stop begins.
class RecordingStep {
 public:
  RecordingState now() const { return state_.load(); }
  // False: it may not follow, and the state stays.
  bool To(RecordingState next) {
    RecordingState before = state_.load();
    while (MayFollow(before, next)) {
      if (state_.compare_exchange_weak(before, next)) return true;
    }
    return false;
  }

 private:
  std::atomic<RecordingState> state_{RecordingState::kNew};
};

}  // namespace jtrace
