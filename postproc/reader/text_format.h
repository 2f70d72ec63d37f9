// The text trace's vocabulary, shared by its reader and writer (FORMATS §1).
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc::text {

inline constexpr std::string_view kHeaderPrefix = "# jtrace-text ";
inline constexpr int kVersion = 1;
// Comment lines that begin so carry what a trace says about itself; other readers skip them:
// "#@<TAB>session<TAB>key<TAB>value", "#@<TAB>loss<TAB>name<TAB>severity<TAB>count<TAB>what<TAB>
// advice", "#@<TAB>count<TAB>key<TAB>value<TAB>what", "#@<TAB>scope<TAB>routine",
// "#@<TAB>routine<TAB>kind<TAB>cost<TAB>routine" for what is no method,
// "#@<TAB>hook<TAB>frame<TAB>kind<TAB>pattern" for each hook in native code.
inline constexpr std::string_view kMetaPrefix = "#@\t";

// Writes TAB, newline and backslash as \t, \n and \\, other control characters (C0, DEL, C1) as
// \xHH, lone surrogates as \uHHHH; all else, bytes that are no UTF-8 too, as it is.
void AppendEscaped(std::string& out, std::string_view field);
// The same for the key of a pair in a list of them, where a comma is \, as well.
void AppendEscapedKey(std::string& out, std::string_view key);
// The first pair of such a list, which is taken off it; pairs are told apart by commas.
std::string_view NextPair(std::string_view& list);
// What Unescape makes a key of.
std::string WithPlainCommas(std::string_view key);
// The reverse of AppendEscaped; an unknown escape stays as it is. Returns `field` itself if it has
// no backslash.
std::string_view Unescape(std::string_view field, std::string& storage);

}  // namespace jtrace::postproc::text
