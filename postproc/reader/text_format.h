// The text trace's vocabulary, shared by its reader and writer (FORMATS §1).
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "common/call_site.h"
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

}  // namespace jtrace::postproc::text
