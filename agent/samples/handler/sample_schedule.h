// When a timer fires: once in each interval, at its end or at a random moment in it (jitter=).
// Plain data, which handlers change.
#pragma once

#include <cstdint>

namespace jtrace::samples {

// The timer's clock begins at 0. Random moments sample every part of a program with its share of
// the time, whatever period the program has, and as often as fixed ones.
struct SampleSchedule {
  // A nearer moment cannot be waited for: its tick belongs to the next one.
  static constexpr uint64_t kMinWaitNanos = 10'000;

  uint64_t interval_ns;  // 0: not in use
  uint64_t next_ns;      // the begin of the interval after that of the pending moment
  uint64_t random;       // state of the generator; 0: moments are the ends of intervals
  uint32_t ticks;        // intervals that the pending moment stands for

  static SampleSchedule Of(uint64_t interval_ns, uint64_t seed) {
    // An odd factor: no seed but 0 gives 0.
    return {interval_ns, 0, seed * 0x9e37'79b9'7f4a'7c15, 0};
  }

  // The pending moment has come. Returns its ticks, and one for each interval that has ended since.
  uint32_t TicksUntil(uint64_t now_ns) {
    const uint64_t ended = now_ns > next_ns ? (now_ns - next_ns) / interval_ns : 0;
    next_ns += ended * interval_ns;
    return ticks + static_cast<uint32_t>(ended);
  }

  // Returns the time from now to the next moment, which becomes the pending one.
  uint64_t WaitAfter(uint64_t now_ns) {
    ticks = 0;
    uint64_t moment = 0;
    do {
      moment = next_ns + Offset();
      next_ns += interval_ns;
      ++ticks;
    } while (moment < now_ns + kMinWaitNanos);
    return moment - now_ns;
  }

 private:
  uint64_t Offset() {
    if (random == 0) return interval_ns;
    random ^= random << 13;  // xorshift64
    random ^= random >> 7;
    random ^= random << 17;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(random) * interval_ns >> 64);
  }
};

}  // namespace jtrace::samples
