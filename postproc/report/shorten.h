// Names shortened to a width: the parts that distinguish routines are shortened last.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace jtrace::postproc {

// "org.h2." "Page$Leaf." "getKey" "(int)" ":Object", and of C++ "" "Compile::" "Optimize" "()" "
// const". Together they are the name.
struct NameParts {
  std::string_view package;     // with its last dot; of a native frame with prefix and module
  std::string_view owner;       // the class or namespace, with "." or "::"
  std::string_view method;      // what identifies the routine; of other texts all
  std::string_view parameters;  // with the parentheses
  std::string_view rest;        // the type of the result, const, a loader
};

// Other texts, such as "[jtrace probe]", are `method` only.
NameParts SplitName(std::string_view name);

// Whether it looks like a routine's name, or a class's: not like a sentence or a file.
bool IsName(std::string_view text);

// Columns that a text takes on a terminal: code points (UTF-8).
int DisplayWidth(std::string_view text);
// At most `width` columns, the middle replaced by "…".
std::string Shorten(std::string_view text, int width);

// Lines of at most `width` columns, broken at blanks; a longer word gets a separate line. `width`
// 0: one line.
std::vector<std::string> WrapWords(std::string_view text, int width);

// The lines as one text, each but the first after as many blanks as `indent`; every line ends with
// a line feed. The first one begins in column `indent`.
std::string Wrapped(std::string_view text, int width, int indent = 0);

// A name with the characters that a terminal would obey, including line feeds, in a visible form:
// \x1b, \u202e. One line of UTF-8.
std::string Printable(std::string_view text);

// Printable, at most `width` columns, or as many as the method's own name takes, which is never
// cut. Packages are shortened first ("o.h.engine.Session.lock(int)"), then the parameters ("(…)");
// then packages and parameters are left out, at last the class. Of a path of several names those in
// the middle are left out; other texts lose their middle. Width 0: no limit.
std::string ShortenName(std::string_view name, int width);
// The same in the rest of a line of `width` columns (0: no limit) after `used` ones, or a few.
inline constexpr int kLeastNameWidth = 16;
std::string FitName(std::string_view name, int width, int used);

// ShortenName of names of which few are shortened again and again. They stay where they are.
class ShortNames {
 public:
  // Valid until the next call.
  const std::string& Shorten(std::string_view name, int width);

 private:
  absl::flat_hash_map<std::pair<const char*, int>, std::string> kept_;
};

// "Class.method" of "com.acme.Class.method(int)".
std::string_view ShortMethod(std::string_view routine);

// `text` with blanks before it up to `width` columns.
std::string PadLeft(std::string_view text, int width);
void AppendLeft(std::string& line, std::string_view text, int width);

}  // namespace jtrace::postproc
