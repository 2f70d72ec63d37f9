// The parts of a routine's name: names are shortened part by part, and the method's stays whole.
#pragma once

#include <string_view>

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

}  // namespace jtrace::postproc
