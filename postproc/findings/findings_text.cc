#include "postproc/findings/findings_text.h"

#include <algorithm>
#include <string_view>

#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr int kFindingMargin = 10;

// A word of a command line, in quotes if a shell would not leave it as it is.
std::string ShellWord(std::string_view word) {
  constexpr std::string_view kPlain = "._-=/+:%,@";
  const bool is_plain = std::all_of(word.begin(), word.end(), [&](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
           kPlain.find(c) != std::string_view::npos;
  });
  if (is_plain && !word.empty()) return std::string(word);
  std::string quoted(word);
  ReplaceAll(quoted, "'", "'\\''");
  return StrCat("'", quoted, "'");
}

void WriteWrapped(std::string_view text, int width, std::ostream& out) {
  const std::string margin(kFindingMargin, ' ');
  for (const std::string& line :
       WrapWords(Printable(text), width > 0 ? std::max(width - kFindingMargin, 40) : 0)) {
    out << margin << line << '\n';
  }
}

}  // namespace

std::string NextCommand(const ReportInput& input, const Finding& finding) {
  std::string command = "jtrace-post";
  for (const std::string& option : finding.next) StrAppend(&command, " ", ShellWord(option));
  for (const TraceInfo& trace : input.model.traces()) {
    StrAppend(&command, " ", ShellWord(trace.file));
  }
  return command;
}

void WriteFinding(const ReportInput& input, const Found& found, std::ostream& out) {
  const Finding& finding = found.finding;
  const int width = input.options.width;
  std::string head = PadLeft(FormatPercent(finding.share), kFindingMargin - 2);
  const std::string margin(kFindingMargin, ' ');
  for (const std::string& line : WrapWords(Printable(finding.sentence),
                                           width > 0 ? std::max(width - kFindingMargin, 40) : 0)) {
    out << (head.empty() ? margin : StrCat(head, "  ")) << line << '\n';
    head.clear();
  }
  WriteWrapped(StrCat(finding.evidence, finding.suggestion.empty() ? "" : ": ", finding.suggestion),
               width, out);
  // A command stays whole, so that it can be copied.
  out << margin << "→ " << Printable(NextCommand(input, finding)) << '\n';
}

}  // namespace jtrace::postproc
