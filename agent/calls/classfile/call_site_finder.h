// Finds a method's call sites (sites=on), and where its probes must set them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/bytecode_editor.h"
#include "agent/calls/classfile/probe_point_finder.h"
#include "common/call_site.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/scope_filter.h"

namespace jtrace::classfile {

// A call site, and the first of the instructions that belong to it.
struct CallSiteRange {
  uint32_t bci = 0;
  CallSite site = kNoCallSite;
};

// Numbers the call sites of each routine. The routine's probes push these numbers.
class CallSiteIds {
 public:
  virtual ~CallSiteIds() = default;
  // At most 32,767, so that `sipush` can push it, and the same for the same arguments at any time.
  // Called when rewriting the method can no longer fail.
  virtual uint32_t NumberOf(uint32_t routine, CallSite site) = 0;
  // Remembers the class. Returns whether a class of this name may have run with other code, so that
  // tree nodes may have call sites of that code.
  virtual bool AddClassAndFindOtherVersion(std::string_view class_name, Bytes class_bytes) = 0;
};

// Finds the call sites of one method at a time, for the methods of one class.
//
// An activation's call site stays until a probe changes it, whatever its callees do. So in straight
// code only the first of several calls from one line changes it. A method whose calls all have one
// site needs no probe: its callees' nodes have number 0, which stands for only_call_site().
// Calls of JDK methods that cannot call back, such as String.charAt, do not count as calls.
class CallSiteFinder {
 public:
  // `filter`: which classes get probes; null: even calls that cannot call back count.
  // `may_omit_only_site`: whether a method with one call site may leave it unset.
  CallSiteFinder(const ScopeFilter* filter, bool may_omit_only_site);

  // `editor` has scanned `code`. `points`: the method's probe points, of which exceptions and
  // monitors need a call site as calls do.
  void Find(const ClassFile& file, const CodeAttribute& code, const BytecodeEditor& editor,
            absl::Span<const ProbePoint> points);

  // The instructions before which a probe sets the call site, ascending.
  absl::Span<const CallSiteRange> changes() const { return changes_; }
  // The call site of all calls, if no probe sets it; else kNoCallSite.
  CallSite only_call_site() const { return only_; }
  // The call sites of the code as `editor` lays it out, by new position.
  std::vector<CallSiteRange> Moved(const BytecodeEditor& editor) const;

 private:
  void ReadLines(const CodeAttribute& code);
  void FindTargets(const CodeAttribute& code, const BytecodeEditor& editor);
  void FindCountedPoints(const CodeAttribute& code, absl::Span<const ProbePoint> points);
  bool MayCall(const ClassFile& file, Bytes code, uint32_t bci) const;
  CallSite CallSiteAt(uint32_t bci) const;

  const bool knows_plain_calls_;
  const bool may_be_one_;
  std::vector<CallSiteRange> lines_;  // the code's lines; empty: it has no line numbers
  std::vector<CallSiteRange> calls_;  // every call
  std::vector<CallSiteRange> changes_;
  CallSite only_ = kNoCallSite;
  std::vector<uint8_t> is_target_;   // by bci: a jump or an exception may lead to it
  std::vector<uint8_t> is_counted_;  // by bci: an exception or a monitor is counted before it
};

// Whether the method is the JDK's and runs no other code: "java/lang/String", "charAt", "(I)C".
bool CannotCallBack(std::string_view class_name, std::string_view name,
                    std::string_view descriptor);

}  // namespace jtrace::classfile
