// The kinds of calls that a recording has (codes=): interpreted (0x30) and compiled (0x50) ones. A
// call of a kind that is off is not counted and has no records in a log. Its node stays, with its
// time and its callees. Routines of probe points (calls that leave the scope, exceptions, monitors)
// have codes of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace jtrace::calls {

// On the writer thread only.
class CallKinds {
 public:
  using IsMethod = std::function<bool(uint32_t routine)>;
  // Records all kinds.
  CallKinds() = default;
  // `is_method`: returns false for a probe point.
  CallKinds(bool interpreted, bool jitted, IsMethod is_method)
      : interpreted_(interpreted), jitted_(jitted), is_method_(std::move(is_method)) {}

  bool all() const { return interpreted_ && jitted_; }
  bool Has(uint32_t routine, bool jitted) const {
    return (jitted ? jitted_ : interpreted_) || !IsOfKind(routine);
  }
  // How many of a routine's calls are recorded, and how many of its compiled calls.
  uint64_t CallsOf(uint32_t routine, uint64_t calls, uint64_t jitted) const {
    return calls - (Has(routine, true) ? 0 : jitted) - (Has(routine, false) ? 0 : calls - jitted);
  }
  uint64_t JittedOf(uint32_t routine, uint64_t jitted) const {
    return Has(routine, true) ? jitted : 0;
  }

 private:
  bool IsOfKind(uint32_t routine) const {
    if (routine >= known_.size()) known_.resize(2 * (size_t{routine} + 1), kUnknown);
    uint8_t& known = known_[routine];
    if (known == kUnknown) known = is_method_(routine) ? kMethod : kPoint;
    return known == kMethod;
  }

  static constexpr uint8_t kUnknown = 0;
  static constexpr uint8_t kMethod = 1;
  static constexpr uint8_t kPoint = 2;

  bool interpreted_ = true;
  bool jitted_ = true;
  IsMethod is_method_;
  mutable std::vector<uint8_t> known_;  // kUnknown, kMethod or kPoint, by routine
};

}  // namespace jtrace::calls
