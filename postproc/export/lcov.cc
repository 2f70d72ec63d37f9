// Tracefiles of lcov (geninfo(1)), which genhtml and editors read: a record for each source file.
#include <algorithm>
#include <string>

#include "common/visible_text.h"
#include "postproc/export/counted_packages.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Fields end at commas, and readers cut a name there.
std::string LcovName(const MethodLines& method) {
  std::string name = VisibleText(FullName(method));
  std::replace(name.begin(), name.end(), ',', ';');
  return name;
}

// Where the file was found; in archives and elsewhere its path below the packages' root.
std::string LcovPath(const ReportInput& input, const CountedFile& file) {
  const auto found = input.sources.Find(file.path);
  return VisibleText(found.has_value() && !found->file.empty() ? found->file : file.path);
}

void WriteLcovFunctions(const CountedFile& file, std::ostream& out) {
  int64_t found = 0;
  int64_t hit = 0;
  for (const MethodLines* method : file.methods) {
    if (method->is_part) continue;
    if (method->lines.empty()) continue;
    out << "FN:" << method->lines.front().line << ',' << LcovName(*method) << '\n';
  }
  for (const MethodLines* method : file.methods) {
    if (method->is_part) continue;
    if (method->lines.empty()) continue;
    out << "FNDA:" << method->calls << ',' << LcovName(*method) << '\n';
    ++found;
    hit += HasRun(*method) ? 1 : 0;
  }
  out << "FNF:" << found << "\nFNH:" << hit << '\n';
}

// Which outcomes occurred is not known, nor how often: the first ones, once.
void WriteLcovBranches(const CountedFile& file, std::ostream& out) {
  for (const LineCounts& line : file.lines) {
    for (uint32_t i = 0; i < line.branches; ++i) {
      out << "BRDA:" << line.line << ",0," << i << ','
          << (line.executions == 0      ? "-"
              : i < line.branches_taken ? "1"
                                        : "0")
          << '\n';
    }
  }
  const Covered branches = CoveredBranches(file.lines);
  out << "BRF:" << branches.total << "\nBRH:" << branches.covered << '\n';
}

void WriteLcovLines(const CountedFile& file, std::ostream& out) {
  for (const LineCounts& line : file.lines) {
    out << "DA:" << line.line << ',' << line.executions << '\n';
  }
  const Covered lines = CoveredLines(file.lines);
  out << "LF:" << lines.total << "\nLH:" << lines.covered << '\n';
}

void WriteLcov(const ReportInput& input, std::ostream& out) {
  for (const CountedFile& file : CountedFiles(SelectedMethods(input))) {
    if (file.path.empty() || file.lines.empty()) continue;
    out << "TN:\nSF:" << LcovPath(input, file) << '\n';
    WriteLcovFunctions(file, out);
    WriteLcovBranches(file, out);
    WriteLcovLines(file, out);
    out << "end_of_record\n";
  }
}

}  // namespace

extern const Report kLcovReport = {
    .name = "lcov",
    .group = ReportGroup::kLines,
    .summary = "counts of lines for genhtml and editors (blocks=on)",
    .example = "jtrace-post --report=lcov --source=src/main/java -o coverage.info trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsScope | kAcceptsSource | kAcceptsClasses,
    .document = WriteLcov,
};

}  // namespace jtrace::postproc
