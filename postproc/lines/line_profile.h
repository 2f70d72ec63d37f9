// Exact counts of source lines (blocks=on): how often each ran, and which branches were taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/model/ids.h"

namespace jtrace::postproc {

// A source line of one method. Counts are over all threads.
struct LineCounts {
  int32_t line = 0;
  // How often the line was reached: the count of its most frequent instruction. 0: never.
  uint64_t executions = 0;
  // Bytecode instructions executed on it, and their cost by the table of cycles.
  uint64_t instructions = 0;
  uint64_t cycles = 0;
  // The outcomes of conditional jumps and switches on the line (two a jump, one a target of a
  // switch), and how many of them occurred.
  uint32_t branches = 0;
  uint32_t branches_taken = 0;
  // Samples whose innermost frame was on the line, in ticks.
  int64_t ticks = 0;
  // The counts of the basic blocks on the line, in the order of their bytecode: at least one.
  std::vector<uint64_t> blocks;
};

// A method whose blocks were counted.
struct MethodLines {
  RoutineId routine;        // none: never called, and so not in the model
  std::string class_name;   // "pkg.Outer$Inner"
  std::string name;         // "run(int,Object)", as in flat without its class
  std::string descriptor;   // "(ILjava/lang/Object;)V"; empty: not known
  std::string source_file;  // "Outer.java", as the class names it; empty: it does not
  std::string source_path;  // the whole path, where the class's map of lines has it; else empty
  uint64_t calls = 0;
  // Of the whole method, also where it has no line numbers.
  uint64_t instructions = 0;
  uint64_t cycles = 0;
  std::vector<LineCounts> lines;  // ascending; empty: compiled without line numbers
  // The class is on the class path (--classes) and was never loaded.
  bool never_loaded = false;
  // Compilers (Kotlin) copied its code into other methods, where it ran: `calls` has none of that.
  bool was_inlined = false;
  // Not a method, but lines of another file that a method has (JSP), or lines of a class that
  // others have inlined and whose method is not known (Kotlin).
  bool is_part = false;
};

// The name of parts that are lines of inlined functions.
inline constexpr std::string_view kInlinedPart = "[inlined]";

// All methods of classes whose blocks were counted, in the order of class, then first line, then
// name.
struct LineProfile {
  std::vector<MethodLines> methods;
  // Methods in scope whose blocks were not counted, and so are not in `methods`.
  uint64_t methods_not_counted = 0;

  bool empty() const { return methods.empty(); }
};

// What an empty profile means to the user.
inline constexpr std::string_view kNoLines = "there are no counts of lines: record with blocks=on";

}  // namespace jtrace::postproc
