// A frame as text: [origin prefix][module!]name, e.g. "J:a.B.run()", "N:libc.so.6!malloc",
// "N:libfoo.so [tail call]!work": names distinguish routines, so other properties of a frame are
// with the module.
#pragma once

#include <string>
#include <string_view>

namespace jtrace::postproc {

// Where a frame's code came from; the value is the prefix's letter (FORMATS §1).
enum class Origin : char {
  kNone = ' ',
  kInterpreted = 'J',
  kCompiled = 'C',
  kInlined = 'I',
  kNative = 'N',
  kVm = 'V',
  kKernel = 'K',
};

constexpr bool IsJava(Origin origin) {
  return origin == Origin::kInterpreted || origin == Origin::kCompiled ||
         origin == Origin::kInlined;
}

struct FrameName {
  Origin origin = Origin::kNone;
  std::string_view module;  // empty: none given
  std::string_view name;
  // The function ended in a jump to the one that it called: the stack had no frame of it.
  bool is_tail_call = false;
};

// Splits a frame's text. The prefix is one of JCINVK and a colon not followed by another colon;
// only N, V and K frames have a module, which ends at the first '!' that is not part of a C++
// operator's name.
FrameName ParseFrameName(std::string_view text);

// The text that ParseFrameName splits into these parts again.
std::string FormatFrameName(const FrameName& frame);

// Writes "> >" as ">>", since paths are joined with " > ". Returns `text` itself if it needs no
// change, else a view of `storage`.
std::string_view NormalizeName(std::string_view text, std::string& storage);

// The name without its parameter list: "a.B.run" of "a.B.run(int)".
std::string_view WithoutParameters(std::string_view name);

// True if `pattern` (--of, --root) names the routine: its whole name, or without the parameters,
// with "::" or "." between class and method.
bool RoutineMatches(std::string_view pattern, std::string_view name);

}  // namespace jtrace::postproc
