// The command line of jtrace-post (FORMATS §3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "postproc/calltree/chain_merger.h"
#include "postproc/calltree/tree_builder.h"
#include "postproc/diff/fail_rule.h"
#include "postproc/fleet/labels.h"
#include "postproc/reader/record_filter.h"
#include "postproc/report/report.h"

namespace jtrace::postproc {

// --format=
enum class Format { kText, kCsv, kJson };
// --color=
enum class Colour { kAuto, kAlways, kNever };

struct CommandLine {
  bool help = false;
  bool version = false;
  std::vector<std::string> reports;  // empty: the overview
  Format format = Format::kText;
  std::string output;  // empty: standard output
  MergeMode merge = MergeMode::kChain;
  std::string thread;  // glob; empty: all
  Labels with_labels;  // --with-label: keys and globs of their values; empty: all
  Scope scope = Scope::kFull;
  std::optional<bool> sites;  // --sites: distinguish calls by their places in the callers
  Colour colour = Colour::kAuto;
  std::optional<Aggregate> aggregate;  // --aggregate; none: as the output requires
  bool raw_names = false;
  bool guards_formulas = false;  // --spreadsheet
  bool no_files = false;         // read no file but the traces
  int jobs = 0;                  // threads that read; 0: as many as there are processors
  uint64_t limit_memory = 0;     // bytes; 0: what the traces' size and the machine allow
  ReportOptions report;
  bool width_given = false;
  bool by_given = false;
  std::vector<FailRule> fail_rules;
  fleet::Labels labels;  // --label
  bool labels_given = false;
  std::vector<std::string> traces;
};

// --report=diff,html: the comparison as a page.
bool IsDiffPage(const CommandLine& line);
// Reports that compare two traces.
bool ComparesTraces(const CommandLine& line);
// --report=parquet: a folder of tables.
bool WritesTables(const CommandLine& line);

// `args`: without the program's name. An error names the mistake and the nearest valid option,
// report or value.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const std::string_view> args);

// Every option with an example, every report.
std::string HelpText();

// The table of jtrace-post's options: their names, texts of the help, and parsers.
struct Option {
  std::string_view name;
  std::string_view value;  // its value; empty: it takes none
  std::string_view help;
  std::string_view example;
  absl::Status (*set)(std::string_view value, CommandLine& line);
};

absl::Span<const Option> AllOptions();
// Null: no option has that name.
const Option* FindOption(std::string_view name);

}  // namespace jtrace::postproc
