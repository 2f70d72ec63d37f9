// Lines of several methods, line by line: lambdas, constructors that share initialisers, inner
// classes of one file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/lines/line_profile.h"

namespace jtrace::postproc {

// Of one LineProfile, which outlives it, in its order.
using Methods = std::vector<const MethodLines*>;

// "pkg.Outer$Inner.run(int,Object)"
std::string FullName(const MethodLines& method);

// Whether `pattern` names the method. A pattern with `*` or `?` is a glob for the class or the full
// name, with or without parameters. Any other one is a whole part of the full name, which begins
// and ends at one of `. $ (`: "com.acme" a package, "Outer" or "acme.Outer$Inner" a class,
// "Outer.run" or "run(int,Object)" methods. "::" is the same as ".".
bool NamesMethod(std::string_view pattern, const MethodLines& method);

// All if `of` is empty.
Methods SelectMethods(const LineProfile& profile, std::string_view of);

// a + b, or the greatest number: counts of a damaged trace may be absurd.
uint64_t AddCounts(uint64_t a, uint64_t b);

// Adds what a copy of a line's code did: of the same method in another loader, in another version
// of its class, or inlined elsewhere.
void AddCopy(const LineCounts& from, LineCounts& to);
// Adds a line of other code, which has blocks of its own.
void AddOther(const LineCounts& from, LineCounts& to);
// The line of that number; null: it is missing. `lines` are ascending.
LineCounts* FindLine(std::vector<LineCounts>& lines, int32_t number);
// The line of that number, which is added if it is missing. `lines` are ascending.
LineCounts& LineOf(std::vector<LineCounts>& lines, int32_t number);

// Ascending. Of a line that several methods have, `executions` is the greatest, as it is of several
// instructions of one method; the other numbers are sums, `blocks` those of all. Methods of one
// name are one method, which several loaders have loaded: its executions are a sum, its branches
// are not.
std::vector<LineCounts> MergeLines(absl::Span<const MethodLines* const> methods);

// "com/acme/Outer.java": the class's package as a folder, and its source file. Of a class that
// names no source file, that of its outermost class's name. Where the class has a map of its lines,
// the file that it names. "" of names that are not a relative path.
std::string SourcePath(const MethodLines& method);
// "com.acme" of "com.acme.Outer$Inner"
std::string_view PackageOf(std::string_view class_name);

// What was counted in one source file.
struct CountedFile {
  std::string path;               // SourcePath
  Methods methods;                // in the profile's order
  std::vector<LineCounts> lines;  // ascending
  uint64_t instructions = 0;      // of all methods
};

// By path. Methods without a path of their own share a file without one, which is the last.
std::vector<CountedFile> CountedFiles(const Methods& methods);

// How many of the lines ran, and of their branches.
struct Covered {
  int64_t total = 0;
  int64_t covered = 0;

  void Add(const Covered& other);
  // Of nothing, nothing is missing: 100.
  double percent() const;
};
Covered CoveredLines(const std::vector<LineCounts>& lines);
Covered CoveredBranches(const std::vector<LineCounts>& lines);

}  // namespace jtrace::postproc
