// Fuzz target of command lines. The first byte chooses: 'a' the agent's options, then after a 0
// byte a file that config= and costs= read; 'j' the arguments of jtrace and 'p' those of
// jtrace-post, each up to a 0 byte.
//
// For any input: an error is one line; accepted options can be described, and the description means
// the same.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "agent/base/thread_name_filter.h"
#include "agent/options/options.h"
#include "agent/options/unwind_rules.h"
#include "native-tests/fuzz/require.h"
#include "native-tests/support/described_options.h"
#include "postproc/cli/jtrace_command_line.h"
#include "postproc/input/command_line.h"

namespace jtrace::fuzz {
namespace {

// `text` with `path` instead of each file that would be read.
std::string WithFile(std::string_view text, std::string_view path) {
  std::string safe;
  while (!text.empty()) {
    const size_t config = text.find("config"), costs = text.find("costs");
    size_t at = std::min({config == text.npos ? text.size() : config + 6,
                          costs == text.npos ? text.size() : costs + 5});
    while (at < text.size() && absl::ascii_isspace(static_cast<unsigned char>(text[at]))) ++at;
    safe += text.substr(0, at);
    text.remove_prefix(at);
    if (!text.starts_with('=')) continue;
    safe.append("=").append(path);
    text.remove_prefix(std::min(text.find_first_of(",\n"), text.size()));
  }
  return safe;
}

void CheckAgent(std::string_view input) {
  static const NamelessFile file;
  const std::string text = WithFile(TakePart(input), file.path());
  file.Hold(WithFile(input, file.path()));
  const auto options = ParseOptions(text);
  if (!options.ok()) {
    Require(text.find('\n') != text.npos || IsOneLine(options.status().message()));
    return;
  }
  Require(UnwindRules::Create(options->AllUnwinds()).ok());
  ThreadNameFilter(options->samples.threads).Wants(text);
  const std::string description = DescribeOptions(*options);
  // In a file a comma does not end an option, and so may be part of a value.
  if (text.find(file.path()) != text.npos) return;
  const auto again = ParseOptions(description);
  Require(again.ok());
  Require(DescribeOptions(*again) == description);
  Require(DescribedPart(*again) == DescribedPart(*options));
}

std::vector<std::string_view> Arguments(std::string_view input) {
  std::vector<std::string_view> arguments;
  while (!input.empty()) arguments.push_back(TakePart(input));
  return arguments;
}

bool HasLines(std::string_view input) { return input.find('\n') != input.npos; }

bool HasNoTarget(std::string_view verb) { return verb == "list" || verb == "env"; }

void CheckJtrace(std::string_view input) {
  const auto line = control::ParseCommandLine(Arguments(input));
  if (!line.ok()) {
    Require(HasLines(input) || IsOneLine(line.status().message()));
  } else if (!line->help && !line->version) {
    Require(!line->verb.empty());
    const bool has_target = !line->target.empty();
    const bool has_program = !line->program.empty();
    Require(line->verb == "run" ? has_program : has_target || HasNoTarget(line->verb));
    control::AgentOptions(*line);
  }
}

void CheckPost(std::string_view input) {
  const auto line = postproc::ParseCommandLine(Arguments(input));
  if (!line.ok()) {
    Require(HasLines(input) || IsOneLine(line.status().message()));
  } else if (!line->help && !line->version) {
    Require(!line->traces.empty() && line->jobs >= 0);
  }
}

}  // namespace
}  // namespace jtrace::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace jtrace::fuzz;  // NOLINT: a fuzz target
  CheckByForm(View(data, size), {{'a', CheckAgent}, {'j', CheckJtrace}, {'p', CheckPost}});
  return 0;
}
