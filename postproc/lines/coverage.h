// How much of a program ran, as a tree of names: program, packages, classes, methods (S4.6).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "postproc/lines/line_profile.h"
#include "postproc/lines/merged_lines.h"

namespace jtrace::postproc {

// --by=
enum class CoverageBy : uint8_t { kLines, kBranches };

enum class CoverageLevel : uint8_t { kProgram, kPackage, kClass, kMethod };
// "program", "package", "class", "method"
std::string_view CoverageLevelName(CoverageLevel level);

inline constexpr std::string_view kProgramName = "[program]";
inline constexpr std::string_view kDefaultPackage = "[default package]";

struct CoverageRow {
  CoverageLevel level = CoverageLevel::kProgram;
  std::string name;  // of the level's item, whole
  // A source line counts once at each level, however many methods have it: so a class may have
  // fewer lines than its methods together. Branches are sums.
  Covered counted{};
  int64_t methods = 0;
  int64_t methods_run = 0;
  // Compiled without line numbers: nothing of them is in `counted`.
  int64_t methods_without_lines = 0;
  // Of classes that were never loaded.
  int64_t methods_never_loaded = 0;
};

// Depth first, siblings by name. At least the program.
std::vector<CoverageRow> CoverageTree(const Methods& methods, CoverageBy by);

// The program's row alone.
CoverageRow CoverageOfAll(const Methods& methods, CoverageBy by);

}  // namespace jtrace::postproc
