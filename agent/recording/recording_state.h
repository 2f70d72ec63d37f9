// The states of a recording, and the steps between them.
#pragma once

#include <atomic>
#include <cstdint>

namespace jtrace {

enum class RecordingState : uint8_t {
  kNew,       // its parts are being prepared
  kPrepared,  // at load it stays here until VMInit
  kRunning,   // the gate opens: callbacks come through it
  kStopping,  // its trace is being completed
  kRemoving,  // the trace is complete; its probes are being taken out, in batches
  kPaused,    // the control thread takes the remaining probes out later
  kFailing,   // the gate closes; the failure is being reported
  kFailed,    // its probes have to be taken out
  kEnded,     // its parts are cleaned up, or the JVM ends
};

// Whether a recording may get from one state into the other.
constexpr bool MayFollow(RecordingState from, RecordingState to) {
  using enum RecordingState;
  switch (to) {
    case kNew:
      return false;
    case kPrepared:
      return from == kNew;
    case kRunning:
      return from == kPrepared;
    case kStopping:
      return from == kRunning;
    case kRemoving:
      return from == kStopping || from == kFailed || from == kPaused;
    case kPaused:
      return from == kRemoving;
    // A failure during a stop does not change the state: the stop returns it as an error.
    case kFailing:
      return from == kPrepared || from == kRunning;
    case kFailed:
      return from == kFailing;
    // A start may fail in any state, and the next start may retire a recording in any state.
    case kEnded:
      return from != kEnded;
  }
  return false;
}

// The state of one recording. Any thread: the writer thread may fail while a stop begins.
class RecordingStateMachine {
 public:
  RecordingState now() const { return state_.load(); }
  // False: that state may not follow, and nothing changes.
  [[nodiscard]] bool TryEnter(RecordingState next) {
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
