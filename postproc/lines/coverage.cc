#include "postproc/lines/coverage.h"

#include <iterator>
#include <utility>

#include "absl/container/btree_map.h"

namespace jtrace::postproc {
namespace {

using ByName = absl::btree_map<std::string, Methods>;

Covered CountedOf(const std::vector<LineCounts>& lines, CoverageBy by) {
  return by == CoverageBy::kLines ? CoveredLines(lines) : CoveredBranches(lines);
}

void AddMethodCounts(const Methods& methods, CoverageRow& row) {
  for (const MethodLines* method : methods) {
    if (method->is_part) continue;
    ++row.methods;
    row.methods_run += method->calls > 0 || method->was_inlined ? 1 : 0;
    row.methods_without_lines += method->lines.empty() ? 1 : 0;
    row.methods_never_loaded += method->never_loaded ? 1 : 0;
  }
}

// Lines of one number in several files are several.
CoverageRow RowOf(CoverageLevel level, std::string_view name, const Methods& methods,
                  CoverageBy by) {
  CoverageRow row{level, std::string(name)};
  for (const CountedFile& file : CountedFiles(methods)) row.counted.Add(CountedOf(file.lines, by));
  AddMethodCounts(methods, row);
  return row;
}

void AddToParent(const CoverageRow& row, CoverageRow& parent) {
  parent.counted.Add(row.counted);
  parent.methods += row.methods;
  parent.methods_run += row.methods_run;
  parent.methods_without_lines += row.methods_without_lines;
  parent.methods_never_loaded += row.methods_never_loaded;
}

ByName ByPackage(const Methods& methods) {
  ByName packages;
  for (const MethodLines* method : methods) {
    const std::string_view package = PackageOf(method->class_name);
    packages[std::string(package.empty() ? kDefaultPackage : package)].push_back(method);
  }
  return packages;
}

template <typename NameOf>
ByName GroupBy(const Methods& methods, NameOf name_of) {
  ByName groups;
  for (const MethodLines* method : methods) groups[name_of(*method)].push_back(method);
  return groups;
}

}  // namespace

std::string_view CoverageLevelName(CoverageLevel level) {
  constexpr std::string_view kNames[] = {"program", "package", "class", "method"};
  return kNames[static_cast<size_t>(level)];
}

std::vector<CoverageRow> CoverageTree(const Methods& methods, CoverageBy by) {
  std::vector<CoverageRow> rows = {{CoverageLevel::kProgram, std::string(kProgramName)}};
  for (const auto& [package, of_package] : ByPackage(methods)) {
    rows.push_back(RowOf(CoverageLevel::kPackage, package, of_package, by));
    AddToParent(rows.back(), rows.front());
    const auto class_of = [](const MethodLines& method) { return method.class_name; };
    for (const auto& [name, of_class] : GroupBy(of_package, class_of)) {
      rows.push_back(RowOf(CoverageLevel::kClass, name, of_class, by));
      for (const auto& [method, same] : GroupBy(of_class, FullName)) {
        rows.push_back(RowOf(CoverageLevel::kMethod, method, same, by));
      }
    }
  }
  return rows;
}

CoverageRow CoverageOfAll(const Methods& methods, CoverageBy by) {
  CoverageRow all{CoverageLevel::kProgram, std::string(kProgramName)};
  for (const auto& [package, of_package] : ByPackage(methods)) {
    AddToParent(RowOf(CoverageLevel::kPackage, package, of_package, by), all);
  }
  return all;
}

}  // namespace jtrace::postproc
