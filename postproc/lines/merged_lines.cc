#include "postproc/lines/merged_lines.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/container/btree_map.h"
#include "common/glob.h"
#include "postproc/model/frame_name.h"
#include "postproc/support/strings.h"
#include "postproc/support/wrap.h"

namespace jtrace::postproc {
namespace {

using LinesByNumber = absl::btree_map<int32_t, LineCounts>;

template <typename Add>
void AddLines(const LinesByNumber& from, Add add, LinesByNumber& to) {
  for (const auto& [number, line] : from) {
    const auto [found, inserted] = to.try_emplace(number, line);
    if (!inserted) add(line, found->second);
  }
}

LinesByNumber ByNumber(const MethodLines& method) {
  LinesByNumber lines;
  for (const LineCounts& line : method.lines) {
    const auto [found, inserted] = lines.try_emplace(line.line, line);
    if (!inserted) AddOther(line, found->second);
  }
  return lines;
}

// A part of a path that stays in its folder.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string_view::npos;
}

// "" where a part of it would leave the folder.
std::string PlainPath(std::string_view path) {
  while (path.starts_with("/")) path.remove_prefix(1);
  for (const std::string_view part : Split(path, '/')) {
    if (!IsPlainName(part)) return "";
  }
  return std::string(path);
}

}  // namespace

uint64_t AddCounts(uint64_t a, uint64_t b) {
  const uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<uint64_t>::max() : sum;
}

void AddOther(const LineCounts& from, LineCounts& to) {
  to.executions = std::max(to.executions, from.executions);
  to.instructions = AddCounts(to.instructions, from.instructions);
  to.cycles = AddCounts(to.cycles, from.cycles);
  to.branches += from.branches;
  to.branches_taken += from.branches_taken;
  to.ticks = WrapAdd(to.ticks, from.ticks);
  to.blocks.insert(to.blocks.end(), from.blocks.begin(), from.blocks.end());
}

void AddCopy(const LineCounts& from, LineCounts& to) {
  to.executions = AddCounts(to.executions, from.executions);
  to.instructions = AddCounts(to.instructions, from.instructions);
  to.cycles = AddCounts(to.cycles, from.cycles);
  // Which ones each copy took is not known.
  to.branches = std::max(to.branches, from.branches);
  to.branches_taken = std::max(to.branches_taken, from.branches_taken);
  to.ticks = WrapAdd(to.ticks, from.ticks);
  to.blocks.resize(std::max(to.blocks.size(), from.blocks.size()));
  for (size_t i = 0; i < from.blocks.size(); ++i) {
    to.blocks[i] = AddCounts(to.blocks[i], from.blocks[i]);
  }
}

LineCounts* FindLine(std::vector<LineCounts>& lines, int32_t number) {
  const auto at = std::lower_bound(lines.begin(), lines.end(), number,
                                   [](const LineCounts& a, int32_t line) { return a.line < line; });
  return at != lines.end() && at->line == number ? &*at : nullptr;
}

LineCounts& LineOf(std::vector<LineCounts>& lines, int32_t number) {
  const auto at = std::lower_bound(lines.begin(), lines.end(), number,
                                   [](const LineCounts& a, int32_t line) { return a.line < line; });
  if (at != lines.end() && at->line == number) return *at;
  LineCounts line;
  line.line = number;
  return *lines.insert(at, line);
}

std::vector<LineCounts> MergeLines(absl::Span<const MethodLines* const> methods) {
  absl::btree_map<std::string, LinesByNumber> by_name;
  for (const MethodLines* method : methods) {
    AddLines(ByNumber(*method), AddCopy, by_name[FullName(*method)]);
  }
  LinesByNumber all;
  for (const auto& [name, lines] : by_name) AddLines(lines, AddOther, all);
  std::vector<LineCounts> merged;
  merged.reserve(all.size());
  for (auto& [number, line] : all) merged.push_back(std::move(line));
  return merged;
}

std::string_view PackageOf(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : class_name.substr(0, dot);
}

std::string SourcePath(const MethodLines& method) {
  if (!method.source_path.empty()) return PlainPath(method.source_path);
  const std::string_view package = PackageOf(method.class_name);
  std::string path;
  if (!package.empty()) {
    for (const std::string_view part : Split(package, '.')) {
      if (!IsPlainName(part)) return "";
      StrAppend(&path, part, "/");
    }
  }
  if (!method.source_file.empty()) {
    return IsPlainName(method.source_file) ? StrCat(path, method.source_file) : "";
  }
  std::string_view outer = method.class_name;
  if (!package.empty()) outer.remove_prefix(package.size() + 1);
  outer = outer.substr(0, outer.find('$', 1));
  return IsPlainName(outer) ? StrCat(path, outer, ".java") : "";
}

std::vector<CountedFile> CountedFiles(const Methods& methods) {
  absl::btree_map<std::string, CountedFile> by_path;
  for (const MethodLines* method : methods) {
    const std::string path = SourcePath(*method);
    CountedFile& file = by_path[path];
    file.path = path;
    file.methods.push_back(method);
    file.instructions = AddCounts(file.instructions, method->instructions);
  }
  std::vector<CountedFile> files;
  for (auto& [path, file] : by_path) {
    file.lines = MergeLines(file.methods);
    files.push_back(std::move(file));
  }
  if (!files.empty() && files.front().path.empty()) {
    std::rotate(files.begin(), files.begin() + 1, files.end());
  }
  return files;
}

void Covered::Add(const Covered& other) {
  total += other.total;
  covered += other.covered;
}

double Covered::percent() const {
  return total == 0 ? 100 : 100.0 * static_cast<double>(covered) / static_cast<double>(total);
}

Covered CoveredLines(const std::vector<LineCounts>& lines) {
  Covered sum;
  for (const LineCounts& line : lines) sum.Add({1, line.executions > 0 ? 1 : 0});
  return sum;
}

Covered CoveredBranches(const std::vector<LineCounts>& lines) {
  Covered sum;
  for (const LineCounts& line : lines) {
    sum.Add({line.branches, std::min(line.branches, line.branches_taken)});
  }
  return sum;
}

namespace {

bool IsBoundary(char c) { return c == '.' || c == '$' || c == '('; }

// Whether `part` is in `name`, and begins and ends where parts of names do.
bool HasPart(std::string_view name, std::string_view part) {
  for (size_t at = name.find(part); at != std::string_view::npos; at = name.find(part, at + 1)) {
    const size_t end = at + part.size();
    const bool begins = at == 0 || IsBoundary(name[at - 1]);
    const bool ends = end == name.size() || IsBoundary(name[end]);
    if (begins && ends) return true;
  }
  return false;
}

}  // namespace

std::string FullName(const MethodLines& method) {
  return method.class_name.empty() ? method.name : StrCat(method.class_name, ".", method.name);
}

bool NamesMethod(std::string_view pattern, const MethodLines& method) {
  std::string dotted(pattern);
  ReplaceAll(dotted, "::", ".");
  const std::string name = FullName(method);
  if (dotted.find_first_of("*?") == std::string::npos) return HasPart(name, dotted);
  return GlobMatches(dotted, name) || GlobMatches(dotted, WithoutParameters(name)) ||
         GlobMatches(dotted, method.class_name);
}

Methods SelectMethods(const LineProfile& profile, std::string_view of) {
  Methods methods;
  for (const MethodLines& method : profile.methods) {
    if (of.empty() || NamesMethod(of, method)) methods.push_back(&method);
  }
  return methods;
}

}  // namespace jtrace::postproc
