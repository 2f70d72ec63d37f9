// The XML report of Cobertura (coverage-04.dtd), which GitLab, Jenkins and Azure DevOps read.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "postproc/export/counted_packages.h"
#include "postproc/export/xml_writer.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Complexity is not counted; readers need the attribute.
constexpr const char* kComplexity = "0";

struct Coverage {
  Covered lines;
  Covered branches;

  void Add(const Coverage& other) {
    lines.Add(other.lines);
    branches.Add(other.branches);
  }
};

Coverage CoverageOfLines(const std::vector<LineCounts>& lines) {
  return {CoveredLines(lines), CoveredBranches(lines)};
}

std::string Rate(const Covered& covered) {
  return absl::StrFormat("%.4f", covered.percent() / 100);
}

void WriteCoberturaLine(const LineCounts& line, XmlWriter& xml) {
  const std::string number = StrCat(line.line);
  const std::string hits = StrCat(line.executions);
  if (line.branches == 0) {
    xml.Empty("line", {{"number", number}, {"hits", hits}, {"branch", "false"}});
    return;
  }
  const Covered branches = CoveredBranches({line});
  const std::string share = absl::StrFormat("%d%% (%d/%d)", 100 * branches.covered / branches.total,
                                            branches.covered, branches.total);
  xml.Empty(
      "line",
      {{"number", number}, {"hits", hits}, {"branch", "true"}, {"condition-coverage", share}});
}

void WriteCoberturaLines(const std::vector<LineCounts>& lines, XmlWriter& xml) {
  xml.Open("lines");
  for (const LineCounts& line : lines) WriteCoberturaLine(line, xml);
  xml.Close();
}

void WriteCoberturaMethod(const MethodLines& method, XmlWriter& xml) {
  const std::vector<LineCounts> lines = MergeLines(Methods{&method});
  const Coverage coverage = CoverageOfLines(lines);
  xml.Open("method", {{"name", std::string(PlainName(method))},
                      {"signature", std::string(SignatureOf(method))},
                      {"line-rate", Rate(coverage.lines)},
                      {"branch-rate", Rate(coverage.branches)},
                      {"complexity", kComplexity}});
  WriteCoberturaLines(lines, xml);
  xml.Close();
}

void WriteCoberturaClass(const std::string& name, const Methods& all, XmlWriter& xml) {
  const Methods methods = OfOneFile(all);
  const std::vector<LineCounts> lines = MergeLines(methods);
  const Coverage coverage = CoverageOfLines(lines);
  xml.Open("class", {{"name", name},
                     {"filename", SourcePath(*methods.front())},
                     {"line-rate", Rate(coverage.lines)},
                     {"branch-rate", Rate(coverage.branches)},
                     {"complexity", kComplexity}});
  xml.Open("methods");
  for (const MethodLines* method : methods) {
    if (!method->is_part) WriteCoberturaMethod(*method, xml);
  }
  xml.Close();
  WriteCoberturaLines(lines, xml);
  xml.Close();
}

Coverage CoverageOfPackage(const CountedClasses& classes) {
  Coverage sum;
  for (const CountedFile& file : CountedFiles(MethodsOf(classes))) {
    sum.Add(CoverageOfLines(file.lines));
  }
  return sum;
}

void WriteCoberturaPackage(const std::string& package, const CountedClasses& classes,
                           XmlWriter& xml) {
  const Coverage coverage = CoverageOfPackage(classes);
  xml.Open("package", {{"name", package},
                       {"line-rate", Rate(coverage.lines)},
                       {"branch-rate", Rate(coverage.branches)},
                       {"complexity", kComplexity}});
  xml.Open("classes");
  for (const auto& [name, methods] : classes) WriteCoberturaClass(name, methods, xml);
  xml.Close();
  xml.Close();
}

// The folders below which the files were found; file names are relative to them.
std::set<std::string> SourceFolders(const ReportInput& input) {
  std::set<std::string> folders;
  for (const CountedFile& file : CountedFiles(SelectedMethods(input))) {
    const auto found = input.sources.Find(file.path);
    // Kotlin files may be in another folder than their package's.
    if (!found.has_value() || !found->file.ends_with(StrCat("/", file.path))) continue;
    folders.insert(found->file.substr(0, found->file.size() - file.path.size() - 1));
  }
  if (folders.empty()) folders.insert(".");
  return folders;
}

void WriteCobertura(const ReportInput& input, std::ostream& out) {
  const CountedPackages packages = PackagesOf(input);
  Coverage all;
  for (const auto& [package, classes] : packages) all.Add(CoverageOfPackage(classes));
  XmlWriter xml("coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"", out);
  xml.Open("coverage", {{"line-rate", Rate(all.lines)},
                        {"branch-rate", Rate(all.branches)},
                        {"lines-covered", StrCat(all.lines.covered)},
                        {"lines-valid", StrCat(all.lines.total)},
                        {"branches-covered", StrCat(all.branches.covered)},
                        {"branches-valid", StrCat(all.branches.total)},
                        {"complexity", kComplexity},
                        {"version", StrCat("jtrace ", kVersion)},
                        // The trace's end is not a date: equal traces make equal files.
                        {"timestamp", "0"}});
  xml.Open("sources");
  for (const std::string& folder : SourceFolders(input)) xml.Text("source", folder);
  xml.Close();
  xml.Open("packages");
  for (const auto& [package, classes] : packages) WriteCoberturaPackage(package, classes, xml);
  xml.Close();
  xml.Close();
}

}  // namespace

extern const Report kCoberturaReport = {
    .name = "cobertura",
    .group = ReportGroup::kLines,
    .summary = "coverage as XML of Cobertura, for GitLab, Jenkins and others (blocks=on)",
    .example = "jtrace-post --report=cobertura -o cobertura.xml trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsScope | kAcceptsSource | kAcceptsClasses,
    .document = WriteCobertura,
};

}  // namespace jtrace::postproc
