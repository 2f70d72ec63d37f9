// The text trace's vocabulary, shared by its reader and writer (FORMATS §1).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "common/call_site.h"
#include "postproc/model/record_visitor.h"
#include "postproc/model/trace_model.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::text {

inline constexpr std::string_view kHeaderPrefix = "# jtrace-text ";
inline constexpr int kVersion = 1;
// Comment lines that begin so contain what a trace says about itself; other readers skip them:
// "#@<TAB>session<TAB>key<TAB>value", "#@<TAB>loss<TAB>name<TAB>severity<TAB>count<TAB>what<TAB>
// advice", "#@<TAB>count<TAB>key<TAB>value<TAB>what", "#@<TAB>scope<TAB>routine",
// "#@<TAB>routine<TAB>kind<TAB>cost<TAB>routine" for other routines than methods, and after it
// "<TAB>cycles<TAB>millicycles for each element" if there are any,
// "#@<TAB>hook<TAB>frame<TAB>kind<TAB>pattern" for each hook in native code.
inline constexpr std::string_view kMetaPrefix = "#@\t";

// Times and counts beyond this are rejected, so that sums stay far from overflow in sane traces.
inline constexpr int64_t kMaxNumber = std::numeric_limits<int64_t>::max() / 4;

inline bool ParseNumber(std::string_view text, int64_t& number) {
  return ParseInteger(text, number) && number <= kMaxNumber && number >= -kMaxNumber;
}

// Writes TAB, newline and backslash as \t, \n and \\, other control characters (C0, DEL, C1) as
// \xHH, lone surrogates as \uHHHH; leaves all else unchanged, including invalid UTF-8.
void AppendEscaped(std::string& out, std::string_view field);
// The same for the key of a pair in a list, where a comma becomes \, as well.
void AppendEscapedKey(std::string& out, std::string_view key);
// Removes and returns the first pair of such a list; commas separate pairs.
std::string_view NextPair(std::string_view& list);
// The form of a key that Unescape expects.
std::string WithPlainCommas(std::string_view key);
// A routine in a path or a frame may be followed by where it was: "\\:120" for a line, "\\@17" for
// a bytecode index. No escaped name ends so.
void AppendPlace(std::string& out, CallSite place);
// Removes it from the end of a field and returns it; none: kNoCallSite.
CallSite TakePlace(std::string_view& field);
// The reverse of AppendEscaped; an unknown escape is left unchanged. Returns `field` itself if it
// has no backslash.
std::string_view Unescape(std::string_view field, std::string& storage);

// Compiled code in a text trace: "jit-load", "jit-unload" and "jit-inlining" with their fields.
std::string_view CodeOp(CodeRecord::Op op);
std::optional<CodeRecord::Op> ParseCodeOp(std::string_view op);

// A CodeRecord with the objects of its spans.
class CodeFields {
 public:
  // `args`: the fields after the op, unescaped: ROUTINE, "address=0x…", "size=…", "method=…"; of a
  // load "level=…", "native", "osr=…", "bytecodes=…", "modifiers=…" as far as they are not 0; then
  // for each inlining row "@PC" and "BCI ROUTINE" or "BCI/BYTECODES ROUTINE" for each frame,
  // innermost first. Other fields are left out.
  CodeFields(CodeRecord::Op op, absl::Span<const std::string> args, TraceModel& model);
  CodeFields(const CodeFields&) = delete;
  CodeFields& operator=(const CodeFields&) = delete;

  const CodeRecord& record() const { return record_; }

 private:
  void ReadLoad(std::string_view field);
  void ReadRows(absl::Span<const std::string> args, TraceModel& model);

  CodeRecord record_;
  std::vector<CodeRecord::Frame> frames_;
  std::vector<CodeRecord::Row> rows_;
};

// "calls=9,timed=2,total=300,min=100,max=200"; the times only if calls were timed.
std::string HookSumsText(const HookSums& sums);

// A HookRecord with the objects of its path.
class HookFields {
 public:
  // `args`: the fields after the op, unescaped: NAME, KIND, CALLER or empty, sums, and the path.
  // `places`: TakePlace of each of them. Adds the hook to the trace. None if they are malformed.
  static std::optional<HookFields> Parse(absl::Span<const std::string> args,
                                         absl::Span<const CallSite> places, TraceInfo& trace,
                                         TraceModel& model);

  // Valid as long as this object exists and does not move.
  HookRecord record() const {
    HookRecord record = record_;
    record.path = path_;
    record.jumped = jumped_;
    return record;
  }

 private:
  HookRecord record_;
  std::vector<PathStep> path_;
  std::vector<FrameId> jumped_;
};

// `field`: "calls=9,base=300,alloc.bytes=64", as it is in the line. Adds the names of metrics to
// the model. False if it is malformed.
bool ParseNodeCounts(std::string_view field, TraceModel& model, NodeCounts& counts);

// The pairs of counters of blocks: "blocks:CODE=calls", "blocks:CODE:PLACE=count" and
// "blocks:CODE:oBCI=open activations".
void ForEachBlockPair(absl::Span<const NodeBlocks> blocks,
                      absl::FunctionRef<void(std::string_view key, int64_t value)> f);

}  // namespace jtrace::postproc::text
