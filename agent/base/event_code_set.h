// Which kinds of records, by code, are recorded (S3.1): the option codes=+0x61;-0x51/0x2;+alloc.
// Nothing changes a set while a recording uses it, so any thread may read it.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/event_codes.h"

namespace jtrace {

using format::Code;
using format::kCodeCount;

// The codes that are recorded.
class EventCodeSet {
 public:
  // Switches on the codes that are on by default (format::kEventCodes).
  EventCodeSet();

  bool Has(Code code) const { return on_[static_cast<size_t>(code)]; }
  // Returns whether Apply switched the code on, by name or number, whatever its default is.
  bool WasSwitchedOn(Code code) const { return switched_on_[static_cast<size_t>(code)]; }
  // Returns whether Apply switched the code off.
  bool WasSwitchedOff(Code code) const { return switched_off_[static_cast<size_t>(code)]; }
  // Returns whether records with this code are on. An end is switched with its begin. A minor
  // without a switch of its own is on if any minor of its major is on. A major without switches,
  // such as that of marks, is always on.
  bool HasRecord(uint32_t major, uint32_t minor) const;

  // Applies "+0x61", "-0x20/0x2", "-jit" or "alloc", several of them separated by `;`. A major
  // alone switches all its minors, and so does the name of such a group. The error names the
  // nearest existing code.
  absl::Status Apply(absl::string_view list);
  // Replaces the default of a code, as a mode does. What Apply has switched stays as it is.
  void SetDefault(Code code, bool on);
  // Returns the switches that differ from the default, as Apply takes them: "+contended;-jitted".
  // "+switch" is included whenever the user switched it on, because that also makes the kernel
  // record the switches (Options::WantsSwitchRecords).
  std::string Changes() const;

  // Compares the codes that are on, and the switches that Changes returns.
  friend bool operator==(const EventCodeSet& one, const EventCodeSet& other) {
    return one.on_ == other.on_ && one.Changes() == other.Changes();
  }

 private:
  std::bitset<kCodeCount> on_;
  std::bitset<kCodeCount> default_;
  std::bitset<kCodeCount> switched_on_;
  std::bitset<kCodeCount> switched_off_;
};

// Returns a table for people: for each code its number, name, default and meaning.
std::string EventCodesHelp();

}  // namespace jtrace
