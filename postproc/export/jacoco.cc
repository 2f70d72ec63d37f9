// The XML report of JaCoCo (report.dtd, version 1.1).
//
// JaCoCo counts instructions whether they ran or not. Counts of lines have the blocks of a line in
// their place: `mi`, `ci` and INSTRUCTION are blocks.
#include <algorithm>
#include <string>
#include <vector>

#include "postproc/export/counted_packages.h"
#include "postproc/export/xml_writer.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// JaCoCo's counters of one element.
struct JacocoCounters {
  Covered blocks;
  Covered branches;
  Covered lines;
  Covered methods;
  Covered classes;

  void Add(const JacocoCounters& other) {
    blocks.Add(other.blocks);
    branches.Add(other.branches);
    lines.Add(other.lines);
    methods.Add(other.methods);
    classes.Add(other.classes);
  }
};

Covered BlocksOf(const LineCounts& line) {
  const auto ran = std::count_if(line.blocks.begin(), line.blocks.end(),
                                 [](uint64_t count) { return count > 0; });
  return {static_cast<int64_t>(line.blocks.size()), ran};
}

bool AnyRan(const Methods& methods) {
  return std::any_of(methods.begin(), methods.end(),
                     [](const MethodLines* method) { return HasRun(*method); });
}

// Without classes.
JacocoCounters CountersOf(const Methods& methods) {
  const std::vector<LineCounts> lines = MergeLines(methods);
  JacocoCounters counters;
  for (const LineCounts& line : lines) counters.blocks.Add(BlocksOf(line));
  counters.branches = CoveredBranches(lines);
  counters.lines = CoveredLines(lines);
  for (const MethodLines* method : methods) {
    if (!method->is_part) counters.methods.Add({1, HasRun(*method) ? 1 : 0});
  }
  return counters;
}

void WriteJacocoCounters(const JacocoCounters& counters, XmlWriter& xml) {
  const auto write = [&](const char* type, const Covered& covered) {
    if (covered.total == 0) return;
    xml.Empty("counter", {{"type", type},
                          {"missed", StrCat(covered.total - covered.covered)},
                          {"covered", StrCat(covered.covered)}});
  };
  write("INSTRUCTION", counters.blocks);
  write("BRANCH", counters.branches);
  write("LINE", counters.lines);
  write("METHOD", counters.methods);
  write("CLASS", counters.classes);
}

void WriteJacocoMethod(const MethodLines& method, XmlWriter& xml) {
  const std::string name(PlainName(method));
  const std::string descriptor(SignatureOf(method));
  if (method.lines.empty()) {
    xml.Open("method", {{"name", name}, {"desc", descriptor}});
  } else {
    xml.Open("method",
             {{"name", name}, {"desc", descriptor}, {"line", StrCat(method.lines.front().line)}});
  }
  WriteJacocoCounters(CountersOf({&method}), xml);
  xml.Close();
}

std::string_view FileName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

void WriteJacocoClass(const std::string& name, const Methods& all, XmlWriter& xml) {
  const Methods methods = OfOneFile(all);
  const std::string path = SourcePath(*methods.front());
  if (path.empty()) {
    xml.Open("class", {{"name", AsFolder(name)}});
  } else {
    xml.Open("class", {{"name", AsFolder(name)}, {"sourcefilename", std::string(FileName(path))}});
  }
  for (const MethodLines* method : methods) {
    if (!method->is_part) WriteJacocoMethod(*method, xml);
  }
  JacocoCounters counters = CountersOf(methods);
  counters.classes = {1, AnyRan(methods) ? 1 : 0};
  WriteJacocoCounters(counters, xml);
  xml.Close();
}

void WriteJacocoLine(const LineCounts& line, XmlWriter& xml) {
  const Covered blocks = BlocksOf(line);
  const Covered branches = CoveredBranches({line});
  xml.Empty("line", {{"nr", StrCat(line.line)},
                     {"mi", StrCat(blocks.total - blocks.covered)},
                     {"ci", StrCat(blocks.covered)},
                     {"mb", StrCat(branches.total - branches.covered)},
                     {"cb", StrCat(branches.covered)}});
}

// The classes of a file, as its counters have them.
Covered ClassesOf(const Methods& methods) {
  absl::btree_map<std::string_view, bool> ran;
  for (const MethodLines* method : methods) ran[method->class_name] |= HasRun(*method);
  Covered classes;
  for (const auto& [name, has_run] : ran) classes.Add({1, has_run ? 1 : 0});
  return classes;
}

// A package has the sums of its files.
JacocoCounters WriteJacocoPackage(const std::string& package, const CountedClasses& classes,
                                  XmlWriter& xml) {
  xml.Open("package", {{"name", AsFolder(package)}});
  for (const auto& [name, methods] : classes) WriteJacocoClass(name, methods, xml);
  JacocoCounters sum;
  for (const CountedFile& file : CountedFiles(MethodsOf(classes))) {
    JacocoCounters counters = CountersOf(file.methods);
    counters.classes = ClassesOf(file.methods);
    sum.Add(counters);
    if (file.path.empty()) continue;
    xml.Open("sourcefile", {{"name", std::string(FileName(file.path))}});
    for (const LineCounts& line : file.lines) WriteJacocoLine(line, xml);
    WriteJacocoCounters(counters, xml);
    xml.Close();
  }
  WriteJacocoCounters(sum, xml);
  xml.Close();
  return sum;
}

void WriteJacoco(const ReportInput& input, std::ostream& out) {
  XmlWriter xml("report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"", out);
  xml.Open("report", {{"name", "jtrace"}});
  JacocoCounters sum;
  for (const auto& [package, classes] : PackagesOf(input)) {
    sum.Add(WriteJacocoPackage(package, classes, xml));
  }
  WriteJacocoCounters(sum, xml);
  xml.Close();
}

}  // namespace

extern const Report kJacocoReport = {
    .name = "jacoco",
    .group = ReportGroup::kLines,
    .summary = "coverage as XML of JaCoCo, for SonarQube and others (blocks=on)",
    .example = "jtrace-post --report=jacoco -o jacoco.xml trace.bin",
    .needs = kNeedsLines,
    .accepts = kAcceptsScope | kAcceptsClasses,
    .document = WriteJacoco,
};

}  // namespace jtrace::postproc
