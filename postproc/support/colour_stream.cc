#include "postproc/support/colour_stream.h"

#include <cctype>

#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kPlain = "\x1b[0m";

constexpr double kMuch = 10;  // percent
constexpr double kSome = 1;

constexpr std::string_view kHeading = "── ";
constexpr std::string_view kTree[] = {"│", "├", "└", "─"};

std::string Painted(std::string_view colour, std::string_view text) {
  return StrCat(colour, text, kPlain);
}

bool IsOfNumber(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.'; }

// "12.3 %" at the beginning of the text; 0 if there is none.
size_t ShareLength(std::string_view text, double& percent) {
  size_t digits = 0;
  while (digits < text.size() && IsOfNumber(text[digits])) ++digits;
  if (digits == 0 || !text.substr(digits).starts_with(" %")) return 0;
  return ParseDouble(text.substr(0, digits), percent) ? digits + 2 : 0;
}

size_t TreeLength(std::string_view text) {
  size_t length = 0;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view part : kTree) {
      if (!text.substr(length).starts_with(part)) continue;
      length += part.size();
      found = true;
    }
  }
  return length;
}

std::string_view ShareColour(double percent) {
  return percent >= kMuch ? kRed : percent >= kSome ? kYellow : kDim;
}

// A line that states a severity: its first word.
std::string_view SeverityColour(std::string_view word) {
  return word == "error:" ? kRed : word == "warning:" ? kYellow : std::string_view();
}

// The part at the beginning of the text that has a separate colour.
size_t Special(std::string_view text, std::string_view& colour) {
  double percent = 0;
  if (const size_t length = ShareLength(text, percent); length != 0) {
    colour = ShareColour(percent);
    return length;
  }
  if (const size_t length = TreeLength(text); length != 0) {
    colour = kDim;
    return length;
  }
  const std::string_view word = text.substr(0, text.find(' '));
  colour = SeverityColour(word);
  return colour.empty() ? 0 : word.size();
}

}  // namespace

std::string Coloured(std::string_view line) {
  if (line.starts_with(kHeading)) return Painted(kBold, line);
  std::string shown;
  for (size_t i = 0; i < line.size();) {
    // Nothing begins inside a word or a number.
    const bool begins = i == 0 || (!IsOfNumber(line[i - 1]) && line[i - 1] != '-' &&
                                   std::isalpha(static_cast<unsigned char>(line[i - 1])) == 0);
    std::string_view colour;
    const size_t length = begins ? Special(line.substr(i), colour) : 0;
    if (length == 0) {
      shown += line[i++];
      continue;
    }
    shown += Painted(colour, line.substr(i, length));
    i += length;
  }
  return shown;
}

void ColourBuffer::Put(std::string_view text) {
  for (const char c : text) {
    if (c != '\n') {
      line_ += c;
      continue;
    }
    target() << Coloured(line_) << '\n';
    line_.clear();
  }
}

void ColourBuffer::PutRemainder() {
  target() << Coloured(line_);
  line_.clear();
}

}  // namespace jtrace::postproc
