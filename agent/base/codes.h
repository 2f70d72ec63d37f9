// The kinds of records by code (S3.1) and which of them are recorded: codes=+0x61;-0x51/0x2;+alloc.
// Pure.
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
class CodeSet {
 public:
  // The cheap ones are on.
  CodeSet();

  bool Has(Code code) const { return on_[static_cast<size_t>(code)]; }
  // Whether it was switched on by name or number, whatever its default is.
  bool WasAsked(Code code) const { return asked_[static_cast<size_t>(code)]; }
  // Whether it was switched off in that way.
  bool WasRefused(Code code) const { return refused_[static_cast<size_t>(code)]; }
  // The same as Has of a record, by its code; an end is switched with its begin. A minor without a
  // switch is recorded if any of its major is, a major without one, such as that of marks, always.
  bool HasRecord(uint32_t major, uint32_t minor) const;

  // Applies "+0x61", "-0x20/0x2", "-jit" or "alloc", several of them separated by `;`. A major
  // alone switches all its minors, and so does the name of such a group. The error names the
  // nearest existing code.
  absl::Status Apply(absl::string_view list);
  // Another default, that of a mode: what was switched by name or number stays as it is.
  void SetDefault(Code code, bool on);
  // The switches that differ from the default, as Apply takes them: "+contended;-jitted"; and
  // "+switch" if it was asked for, which is more than the default.
  std::string Changes() const;

  // Whether both record the same and switch the same beyond defaults.
  friend bool operator==(const CodeSet& one, const CodeSet& other) {
    return one.on_ == other.on_ && one.Changes() == other.Changes();
  }

 private:
  std::bitset<kCodeCount> on_;
  std::bitset<kCodeCount> default_;
  std::bitset<kCodeCount> asked_;
  std::bitset<kCodeCount> refused_;
};

// "gc on, monitor off, …" for people: a line a code.
std::string CodesHelp();

}  // namespace jtrace
