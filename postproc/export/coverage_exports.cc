// Counts of lines in the formats of lcov, JaCoCo and Cobertura.
#include <algorithm>
#include <initializer_list>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/strings/str_format.h"
#include "common/visible_text.h"
#include "postproc/lines/merged_lines.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"
#include "postproc/version.h"

namespace jtrace::postproc {
namespace {

// Classes by name.
using CountedClasses = absl::btree_map<std::string, Methods>;

// Packages by name; "" is the default package.
using CountedPackages = absl::btree_map<std::string, CountedClasses>;

// The methods that --of selects.
CountedPackages PackagesOf(const ReportInput& input) {
  CountedPackages packages;
  for (const MethodLines* method : SelectedMethods(input)) {
    const std::string package(PackageOf(method->class_name));
    packages[package][method->class_name].push_back(method);
  }
  return packages;
}

Methods MethodsOf(const CountedClasses& classes) {
  Methods all;
  for (const auto& [name, methods] : classes) all.insert(all.end(), methods.begin(), methods.end());
  return all;
}

// The methods of a class, and those of its parts that are in the file of its methods. Not empty.
Methods OfOneFile(const Methods& methods) {
  const auto first = std::find_if(methods.begin(), methods.end(),
                                  [](const MethodLines* method) { return !method->is_part; });
  const std::string path = SourcePath(**(first == methods.end() ? methods.begin() : first));
  Methods same;
  for (const MethodLines* method : methods) {
    if (!method->is_part || SourcePath(*method) == path) same.push_back(method);
  }
  return same;
}

// "run" of "run(int,Object)"
std::string_view PlainName(const MethodLines& method) {
  return std::string_view(method.name).substr(0, method.name.find('('));
}

// Its descriptor; where that is not known its parameters as they are shown: "(int,Object)".
std::string_view SignatureOf(const MethodLines& method) {
  if (!method.descriptor.empty()) return method.descriptor;
  return std::string_view(method.name).substr(PlainName(method).size());
}

// Whether anything of it ran.
bool HasRun(const MethodLines& method) {
  return method.calls > 0 ||
         std::any_of(method.lines.begin(), method.lines.end(),
                     [](const LineCounts& line) { return line.executions > 0; });
}

// "com/acme" of "com.acme"
std::string AsFolder(std::string_view name) {
  std::string folder(name);
  std::replace(folder.begin(), folder.end(), '.', '/');
  return folder;
}

// The caller keeps the grammar: each Open has its Close. Names of elements and attributes are
// plain; values and text may be anything: what XML cannot hold has a visible form
// (common/visible_text.h).
class XmlWriter {
 public:
  using Attributes = std::initializer_list<std::pair<std::string_view, std::string>>;

  // `doctype`: what follows <!DOCTYPE.
  XmlWriter(std::string_view doctype, std::ostream& out);

  void Open(std::string_view element, Attributes attributes = {});
  void Close();
  // An element without content.
  void Empty(std::string_view element, Attributes attributes);
  // An element of text only.
  void Text(std::string_view element, std::string_view text);

 private:
  void Begin(std::string_view element, Attributes attributes);

  std::ostream& out_;
  std::vector<std::string> open_;
};

std::string XmlText(std::string_view text) {
  std::string shown = VisibleText(text);
  for (const auto& [from, to] : {std::pair<std::string_view, std::string_view>{"&", "&amp;"},
                                 {"<", "&lt;"},
                                 {">", "&gt;"},
                                 {"\"", "&quot;"},
                                 {"'", "&apos;"},
                                 // The two characters of Unicode that are none in XML.
                                 {"\xEF\xBF\xBE", "\\ufffe"},
                                 {"\xEF\xBF\xBF", "\\uffff"}}) {
    ReplaceAll(shown, from, to);
  }
  return shown;
}

XmlWriter::XmlWriter(std::string_view doctype, std::ostream& out) : out_(out) {
  out_ << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE " << doctype << ">\n";
}

void XmlWriter::Begin(std::string_view element, Attributes attributes) {
  out_ << std::string(open_.size(), ' ') << '<' << element;
  for (const auto& [name, value] : attributes) {
    out_ << ' ' << name << "=\"" << XmlText(value) << '"';
  }
}

void XmlWriter::Open(std::string_view element, Attributes attributes) {
  Begin(element, attributes);
  out_ << ">\n";
  open_.emplace_back(element);
}

void XmlWriter::Close() {
  const std::string element = std::move(open_.back());
  open_.pop_back();
  out_ << std::string(open_.size(), ' ') << "</" << element << ">\n";
}

void XmlWriter::Empty(std::string_view element, Attributes attributes) {
  Begin(element, attributes);
  out_ << "/>\n";
}

void XmlWriter::Text(std::string_view element, std::string_view text) {
  Begin(element, {});
  out_ << '>' << XmlText(text) << "</" << element << ">\n";
}

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

// The XML report of JaCoCo (report.dtd, version 1.1).
//
// JaCoCo counts instructions whether they ran or not. Counts of lines have the blocks of a line in
// their place: `mi`, `ci` and INSTRUCTION are blocks.
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

// The XML report of Cobertura (coverage-04.dtd), which GitLab, Jenkins and Azure DevOps read.
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
