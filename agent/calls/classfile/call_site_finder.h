// The call sites of a method (sites=on), and where its probes must say so.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/probe_point_finder.h"
#include "common/call_site.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/scope_filter.h"

namespace jtrace::classfile {

// An instruction, by its position, and the call site that it and those after it belong to.
struct CallSiteRange {
  uint32_t bci = 0;
  CallSite site = kNoCallSite;
};

// The numbers of a routine's call sites, which its probes push.
class CallSiteNumbers {
 public:
  virtual ~CallSiteNumbers() = default;
  // At most 32,767; the same for the same arguments at any time. Called when nothing can fail any
  // more.
  virtual uint32_t NumberOf(uint32_t routine, CallSite site) = 0;
  // Whether methods of a class of this name may have run with other code than this: nodes may have
  // call sites of that.
  virtual bool KnowsOtherCode(std::string_view class_name, Bytes class_bytes) = 0;
};

// For the methods of one class, one after the other, with the same buffers.
//
// An activation's call site stays until it is changed, whatever its callees do. So in straight
// code only the first of several calls from one line changes it. A method whose calls are all from
// one site changes nothing: its activations have no call site, and the only one is known.
// Calls of the JDK that cannot call back, such as String.charAt, do not count as calls.
class CallSiteFinder {
 public:
  // `filter`: null: nothing is known to call nothing. `may_be_one`: false: a method's only
  // call site is set like others.
  CallSiteFinder(const ScopeFilter* filter, bool may_be_one);

  // `editor` has scanned `code`; `marks` are exceptions thrown and caught, which are counted where
  // they are.
  void Find(const ClassFile& file, const CodeAttribute& code, const CodeEditor& editor,
            absl::Span<const ProbePoint> marks);

  // Instructions before which the call site changes, ascending.
  absl::Span<const CallSiteRange> changes() const { return changes_; }
  // That of all calls, if they do not change it.
  CallSite only() const { return only_; }
  // The call sites of the code as `editor` lays it out, by new position.
  std::vector<CallSiteRange> Moved(const CodeEditor& editor) const;

 private:
  void ReadLines(const CodeAttribute& code);
  void FindTargets(const CodeAttribute& code, const CodeEditor& editor);
  void FindMarks(const CodeAttribute& code, absl::Span<const ProbePoint> marks);
  bool MayCall(const ClassFile& file, Bytes code, uint32_t bci) const;
  CallSite CallSiteAt(uint32_t bci) const;

  const bool knows_plain_calls_;
  const bool may_be_one_;
  std::vector<CallSiteRange> lines_;  // of lines; empty: the code has no line numbers
  std::vector<CallSiteRange> calls_;  // every call
  std::vector<CallSiteRange> changes_;
  CallSite only_ = kNoCallSite;
  std::vector<uint8_t> is_target_;  // by bci: reached otherwise than from the instruction before it
  std::vector<uint8_t> is_mark_;    // by bci
};

// Whether a method of the JDK runs no code of other classes: "java/lang/String", "charAt", "(I)C".
bool IsPlainCall(std::string_view class_name, std::string_view name, std::string_view descriptor);

}  // namespace jtrace::classfile
