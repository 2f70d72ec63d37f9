// The places from which a method calls (sites=on), and where its probes must say so.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "agent/calls/classfile/code_editor.h"
#include "agent/calls/classfile/site_finder.h"
#include "common/call_place.h"
#include "common/classfile/class_file.h"
#include "common/classfile/code_attribute.h"
#include "common/scope_filter.h"

namespace jtrace::classfile {

// An instruction, by its position, and the place that it and those after it belong to.
struct PlacedCode {
  uint32_t bci = 0;
  CallPlace place = kNoCallPlace;
};

// The numbers of a routine's places, which its probes push.
class PlaceNumbers {
 public:
  virtual ~PlaceNumbers() = default;
  // At most 32,767; the same for the same arguments at any time. Called when nothing can fail any
  // more.
  virtual uint32_t NumberOf(uint32_t routine, CallPlace place) = 0;
  // Whether methods of a class of this name may have run with other code than this: nodes may have
  // places of that.
  virtual bool KnowsOtherCode(std::string_view class_name, Bytes class_bytes) = 0;
};

// For the methods of one class, one after the other, with the same buffers.
//
// An activation's place stays until it is changed, whatever its callees do. So in straight code
// only the first of several calls from one line changes it. A method whose calls are all from one
// place changes nothing: its activations have no place, and that is known to be the only one.
// Calls of the JDK that cannot call back, such as String.charAt, do not count as calls.
class CallPlaces {
 public:
  // `filter`: null: nothing is known to call nothing. `may_be_one`: false: the method's only place
  // is set like others.
  CallPlaces(const ScopeFilter* filter, bool may_be_one);

  // `editor` has scanned `code`; `marks` are exceptions thrown and caught, which are counted where
  // they are.
  void Find(const ClassFile& file, const CodeAttribute& code, const CodeEditor& editor,
            absl::Span<const Site> marks);

  // Instructions before which the place changes, ascending.
  absl::Span<const PlacedCode> changes() const { return changes_; }
  // The place of all calls, if they do not change it.
  CallPlace only() const { return only_; }
  // The places of the code as `editor` lays it out, by new position.
  std::vector<PlacedCode> Moved(const CodeEditor& editor) const;

 private:
  void ReadLines(const CodeAttribute& code);
  void FindTargets(const CodeAttribute& code, const CodeEditor& editor);
  void FindMarks(const CodeAttribute& code, absl::Span<const Site> marks);
  bool MayCall(const ClassFile& file, Bytes code, uint32_t bci) const;
  CallPlace PlaceAt(uint32_t bci) const;

  const bool knows_plain_calls_;
  const bool may_be_one_;
  std::vector<PlacedCode> lines_;  // of lines; empty: the code has no line numbers
  std::vector<PlacedCode> calls_;  // every call
  std::vector<PlacedCode> changes_;
  CallPlace only_ = kNoCallPlace;
  std::vector<uint8_t> is_target_;  // by bci: reached otherwise than from the instruction before it
  std::vector<uint8_t> is_mark_;    // by bci
};

// Whether a method of the JDK runs no code of other classes: "java/lang/String", "charAt", "(I)C".
bool IsPlainCall(std::string_view class_name, std::string_view name, std::string_view descriptor);

}  // namespace jtrace::classfile
