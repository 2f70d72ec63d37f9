#include "native-tests/support/line_reports.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

#include "postproc/analysis.h"
#include "postproc/diff/diff_report.h"
#include "postproc/diff/profile_diff.h"
#include "postproc/input/all_reports.h"
#include "postproc/input/command_line.h"
#include "postproc/input/selection.h"
#include "postproc/input/trace_input.h"
#include "postproc/report/report.h"

namespace jtrace::testing {
namespace {

using postproc::LineCounts;
using postproc::LineProfile;
using postproc::MethodLines;
using postproc::ReportInput;

std::string Error(const absl::Status& status) { return "error: " + std::string(status.message()); }

// The same with other lines.
ReportInput WithLines(const ReportInput& input, const LineProfile& lines) {
  return {static_cast<const postproc::Recorded&>(input), lines, input.options};
}

std::string Write(const postproc::Report& report, const postproc::CommandLine& line,
                  const ReportInput& input) {
  std::ostringstream out;
  if (report.document != nullptr) {
    report.document(input, out);
    return out.str();
  }
  postproc::Table table = report.table(input);
  table.KeepRows();
  if (!line.report.sort.empty()) {
    const absl::Status status =
        postproc::CheckColumn(line.report.sort, report.name, table, postproc::Measure());
    if (!status.ok()) return Error(status);
    postproc::SortRows(table, line.report.sort);
  }
  postproc::LimitRows(table, line.report.top);
  if (line.format == postproc::Format::kText) {
    report.text(input, out);
  } else {
    postproc::WriteCsv(table, out);
  }
  return out.str();
}

// Sets the sums of the lines.
void Sum(MethodLines& method) {
  for (const LineCounts& line : method.lines) {
    method.instructions += line.instructions;
    method.cycles += line.cycles;
  }
}

// A line of blocks with these instructions, which ran that often.
LineCounts Counted(int32_t number, std::vector<std::pair<uint64_t, uint64_t>> blocks,
                   uint32_t branches = 0, uint32_t taken = 0) {
  LineCounts line;
  line.line = number;
  line.branches = branches;
  line.branches_taken = taken;
  for (const auto& [instructions, count] : blocks) {
    line.executions = std::max(line.executions, count);
    line.instructions += instructions * count;
    line.blocks.push_back(count);
  }
  line.cycles = 2 * line.instructions;
  return line;
}

}  // namespace

std::string LineReport(const LineProfile& lines, std::vector<std::string> args,
                       const std::string& trace) {
  args.emplace_back("trace");
  const std::vector<std::string_view> views(args.begin(), args.end());
  const absl::StatusOr<postproc::CommandLine> line = postproc::ParseCommandLine(views);
  if (!line.ok()) return Error(line.status());
  std::ostringstream none;
  postproc::Environment environment{
      none, none, [&](const std::string&) { return postproc::InputFile::FromMemory(trace); }};
  postproc::Analysis analysis(*line);
  const absl::Status read = analysis.Read(postproc::TraceInput(*line, environment), line->traces);
  if (!read.ok()) return Error(read);
  if (absl::Status status = CheckLines(*line, lines); !status.ok()) return Error(status);
  std::string all;
  LineProfile named = lines;
  for (MethodLines& method : named.methods) {
    method.routine = analysis.Input().model.FindRoutine(FullName(method));
  }
  for (const std::string& name : line->reports) {
    all += Write(*postproc::FindReport(name), *line, WithLines(analysis.Input(), named));
  }
  return all;
}

std::string LineDiffText(const LineProfile& before, const LineProfile& after) {
  const std::string_view args[] = {"--report=diff", "before", "after"};
  const absl::StatusOr<postproc::CommandLine> line = postproc::ParseCommandLine(args);
  if (!line.ok()) return Error(line.status());
  std::ostringstream out;
  postproc::Environment environment{
      out, out, [](const std::string&) { return postproc::InputFile::FromMemory(kNoCalls); }};
  postproc::Analysis analysis(*line);
  const absl::Status read = analysis.Read(postproc::TraceInput(*line, environment), {"trace"});
  if (!read.ok()) return Error(read);
  const ReportInput input = analysis.Input();
  const ReportInput with_before = WithLines(input, before);
  const ReportInput with_after = WithLines(input, after);
  postproc::DiffText(postproc::Compare(with_before, with_after), with_after, out);
  return out.str();
}

MethodLines Method(const std::string& class_name, const std::string& name,
                   const std::string& source_file, uint64_t calls, std::vector<LineCounts> lines) {
  MethodLines method;
  method.class_name = class_name;
  method.name = name;
  method.source_file = source_file;
  method.calls = calls;
  method.lines = std::move(lines);
  Sum(method);
  return method;
}

LineCounts Line(int32_t line, std::vector<uint64_t> blocks, uint32_t branches,
                uint32_t branches_taken) {
  std::vector<std::pair<uint64_t, uint64_t>> counted;
  for (const uint64_t block : blocks) counted.emplace_back(1, block);
  return Counted(line, counted, branches, branches_taken);
}

// Instructions are those that javac 17 makes of the source.
LineProfile PrimesProfile() {
  uint64_t divisions = 0;
  uint64_t steps = 0;
  uint64_t composites = 0;
  uint64_t primes = 0;
  for (int n = 2; n <= 1000; ++n) {
    bool is_prime = true;
    for (int d = 2; d * d <= n; ++d) {
      ++divisions;
      if (n % d == 0) {
        is_prime = false;
        break;
      }
      ++steps;
    }
    ++(is_prime ? primes : composites);
  }
  LineProfile profile;
  profile.methods = {
      Method("primes.Primes", "<init>()", "Primes.java", 0, {Counted(4, {{3, 0}})}),
      Method("primes.Primes", "prime(int)", "Primes.java", 999,
             {Counted(6, {{2, 999}, {5, 999 + steps}, {2, steps}}, 2, 2),
              Counted(7, {{4, divisions}, {2, composites}}, 2, 2), Counted(9, {{2, primes}})}),
      Method("primes.Primes", "usage()", "Primes.java", 0,
             {Counted(13, {{3, 0}}), Counted(14, {{1, 0}})}),
      Method("primes.Primes", "main(String[])", "Primes.java", 1,
             {Counted(17, {{2, 1}}), Counted(18, {{2, 1}, {3, 1000}, {2, 999}}, 2, 2),
              Counted(19, {{3, 999}, {3, 999}}, 4, 3), Counted(20, {{3, primes}}),
              Counted(21, {{1, primes}}), Counted(24, {{3, 1}}), Counted(25, {{1, 1}})}),
  };
  return profile;
}

std::string PrimesSource() {
  return R"(package primes;

/** Prints the primes up to 1,000. */
public class Primes {
  static boolean prime(int n) {
    for (int d = 2; d * d <= n; d++) {
      if (n % d == 0) return false;
    }
    return true;
  }

  static void usage() {
    System.err.println("usage: Primes LIMIT");
  }

  public static void main(String[] args) {
    int count = 0;
    for (int n = 2; n <= 1000; n++) {
      if (n > 1 && prime(n)) {
        System.out.println(n);
        count++;
      }
    }
    System.out.println(count);
  }
}
)";
}

std::string PrimesTrace() {
  return "# jtrace-text 1 unit=us\n"
         "0\tmain\tnode\tcalls=1\tprimes.Primes.main(String[])\n"
         "0\tmain\tnode\tcalls=999\tprimes.Primes.main(String[])\tprimes.Primes.prime(int)\n";
}

}  // namespace jtrace::testing
