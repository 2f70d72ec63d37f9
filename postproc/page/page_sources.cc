#include "postproc/page/page_sources.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "postproc/lines/merged_lines.h"
#include "postproc/report/line_cells.h"
#include "postproc/report/line_shares.h"
#include "postproc/report/source_listing.h"
#include "postproc/source/source_finder.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

class SourcesWriter {
 public:
  SourcesWriter(const ReportInput& input, const PageSourceLimits& limits,
                absl::FunctionRef<int64_t(RoutineId)> number_of, JsonWriter& json)
      : input_(input), left_(limits), number_of_(number_of), json_(json) {}

  void Write();

 private:
  void WriteFile(const CountedFile& file);
  void WriteLines(const CountedFile& file);
  void WriteShares(const CountedFile& file);
  void WriteMethods(const Methods& methods);
  // Null where there is no source, or no room for it.
  void WriteText(const CountedFile& file);

  const ReportInput& input_;
  PageSourceLimits left_;
  absl::FunctionRef<int64_t(RoutineId)> number_of_;
  JsonWriter& json_;
  int64_t without_lines_ = 0;
  int64_t without_text_ = 0;
};

bool HasRunLines(const CountedFile& file) {
  return std::any_of(file.lines.begin(), file.lines.end(),
                     [](const LineCounts& line) { return MarkOf(&line) != '#'; });
}

void SourcesWriter::Write() {
  std::vector<CountedFile> files = CountedFiles(SelectMethods(input_.lines, ""));
  std::stable_sort(files.begin(), files.end(), [](const CountedFile& a, const CountedFile& b) {
    return a.instructions > b.instructions;
  });
  json_.Key("sources");
  json_.BeginObject();
  json_.Key("files");
  json_.BeginArray();
  for (const CountedFile& file : files) WriteFile(file);
  json_.EndArray();
  json_.Int("without_lines", without_lines_);
  json_.Int("without_text", without_text_);
  json_.EndObject();
}

void SourcesWriter::WriteFile(const CountedFile& file) {
  const Covered lines = CoveredLines(file.lines);
  const Covered branches = CoveredBranches(file.lines);
  json_.BeginObject();
  json_.Text("path", file.path);
  json_.Int("instructions", ToInteger(file.instructions));
  json_.Int("lines", lines.total);
  json_.Int("lines_run", lines.covered);
  json_.Int("branches", branches.total);
  json_.Int("branches_taken", branches.covered);
  int64_t ticks = 0;
  for (const LineCounts& line : file.lines) ticks += line.ticks;
  json_.Int("ticks", ticks);
  if (HasRunLines(file)) {
    if (file.lines.size() <= left_.lines) {
      left_.lines -= file.lines.size();
      WriteLines(file);
      WriteShares(file);
      WriteMethods(file.methods);
      WriteText(file);
    } else {
      ++without_lines_;
    }
  }
  json_.EndObject();
}

void SourcesWriter::WriteLines(const CountedFile& file) {
  const std::vector<LineCounts>& lines = file.lines;
  std::string marks;
  for (const LineCounts& line : lines) marks += MarkOf(&line);
  json_.Text("marks", marks);
  const auto column = [&](std::string_view key, auto of) { json_.Column(key, lines, of); };
  column("number", [](const LineCounts& line) -> int64_t { return line.line; });
  column("count", [](const LineCounts& line) { return ToInteger(line.executions); });
  column("bytecodes", [](const LineCounts& line) { return ToInteger(line.instructions); });
  column("cycles", [](const LineCounts& line) { return ToInteger(line.cycles); });
  column("self", [](const LineCounts& line) { return line.ticks; });
  column("outcomes", [](const LineCounts& line) -> int64_t { return line.branches; });
  column("taken", [](const LineCounts& line) -> int64_t { return line.branches_taken; });
  // Only of lines with several.
  json_.List("blocks", lines, [&](const LineCounts& line) {
    json_.BeginArray();
    if (line.blocks.size() > 1) {
      for (const uint64_t block : line.blocks) json_.Int(ToInteger(block));
    }
    json_.EndArray();
  });
}

// Of each value that the listing may show, hundredths of a percent of the method's; -1: none.
void SourcesWriter::WriteShares(const CountedFile& file) {
  constexpr std::pair<std::string_view, LineValue> kValues[] = {
      {"self", LineValue::kTicks},
      {"bytecodes", LineValue::kBytecodes},
      {"cycles", LineValue::kCycles}};
  json_.Key("shares");
  json_.BeginObject();
  for (const auto& [key, value] : kValues) {
    const LineShares shares(file.methods, value);
    json_.Column(key, file.lines, [&](const LineCounts& line) -> int64_t {
      const std::optional<double> percent = shares.Of(line.line);
      return percent.has_value() ? std::lround(*percent * 100) : -1;
    });
  }
  json_.EndObject();
}

void SourcesWriter::WriteMethods(const Methods& methods) {
  Methods with_lines;
  for (const MethodLines* method : methods) {
    if (!method->lines.empty()) with_lines.push_back(method);
  }
  std::stable_sort(with_lines.begin(), with_lines.end(),
                   [](const MethodLines* a, const MethodLines* b) {
                     return a->lines.front().line < b->lines.front().line;
                   });
  json_.List("methods", with_lines, [&](const MethodLines* method) {
    json_.BeginObject();
    json_.Text("name", FullName(*method));
    json_.Int("routine", method->routine ? number_of_(method->routine) : -1);
    json_.Int("first", method->lines.front().line);
    json_.Int("last", method->lines.back().line);
    json_.Int("calls", ToInteger(method->calls));
    json_.Int("bytecodes", ToInteger(method->instructions));
    json_.Bool("inlined", method->was_inlined || method->is_part);
    json_.Bool("never_loaded", method->never_loaded);
    json_.EndObject();
  });
}

void SourcesWriter::WriteText(const CountedFile& file) {
  const std::optional<FoundSource> found = input_.sources.Find(file.path);
  if (!found.has_value()) return;
  size_t size = 0;
  for (const std::string& line : found->lines) size += line.size() + 1;
  if (size > left_.text) {
    ++without_text_;
    return;
  }
  left_.text -= size;
  json_.Text("where", found->where);
  json_.List("text", found->lines, [&](const std::string& line) { json_.Text(line); });
}

}  // namespace

void WritePageSources(const ReportInput& input, const PageSourceLimits& limits,
                      absl::FunctionRef<int64_t(RoutineId)> number_of, JsonWriter& json) {
  SourcesWriter(input, limits, number_of, json).Write();
}

}  // namespace jtrace::postproc
