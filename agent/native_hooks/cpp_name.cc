#include "agent/native_hooks/cpp_name.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"

namespace jtrace::native_hooks {
namespace {

constexpr absl::string_view kOperator = "operator";
constexpr absl::string_view kAnonymous = "(anonymous namespace)";

bool IsWordCharacter(char c) { return c == '_' || c == '$' || absl::ascii_isalnum(c); }

// The length of an operator's name with a bracket or a comma (`operator<`) at `at`; 0: none.
size_t OperatorLength(absl::string_view text, size_t at) {
  // A token stands before its prefixes.
  constexpr std::array<absl::string_view, 13> kTokens = {
      "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "()", "<", ">", ","};
  if (!absl::StartsWith(text.substr(at), kOperator)) return 0;
  if (at != 0 && IsWordCharacter(text[at - 1])) return 0;
  const absl::string_view rest = text.substr(at + kOperator.size());
  for (const absl::string_view token : kTokens) {
    if (absl::StartsWith(rest, token)) return kOperator.size() + token.size();
  }
  return 0;
}

class Brackets {
 public:
  void Open(char c, size_t at) { open_.emplace_back(c, at); }
  void CloseAngle() {
    if (!open_.empty() && open_.back().first == '<') open_.pop_back();
  }
  // A < that is still open at a ) was a comparison.
  void CloseParenthesis(size_t at, Nesting& nesting) {
    const auto last = std::find_if(open_.rbegin(), open_.rend(),
                                   [](const auto& open) { return open.first == '('; });
    if (last == open_.rend()) {
      nesting.is_balanced = false;
      return;
    }
    const size_t begin = last->second;
    open_.erase(last.base() - 1, open_.end());
    if (open_.empty()) nesting.outer.emplace_back(begin, at);
  }
  uint32_t depth() const { return static_cast<uint32_t>(open_.size()); }

 private:
  std::vector<std::pair<char, size_t>> open_;
};

// Whether mangled names may lack the word: a type or keyword of the language, a word that only the
// demangler prints ("lambda", "thunk"), or a name of std that has an abbreviation.
bool IsAbbreviated(absl::string_view word) {
  static const auto* const words = new absl::flat_hash_set<absl::string_view>{
      "operator",  "anonymous",     "namespace",  "std",           "lambda",    "clone",
      "unnamed",   "type",          "abi",        "default",       "arg",       "void",
      "bool",      "char",          "short",      "int",           "long",      "signed",
      "unsigned",  "float",         "double",     "wchar_t",       "char8_t",   "char16_t",
      "char32_t",  "__int128",      "__float128", "_Float16",      "_Float32",  "_Float64",
      "_Float128", "_Float32x",     "_Float64x",  "__bf16",        "half",      "decimal32",
      "decimal64", "decimal128",    "nullptr_t",  "nullptr",       "auto",      "decltype",
      "const",     "volatile",      "restrict",   "__restrict",    "noexcept",  "requires",
      "typename",  "template",      "complex",    "imaginary",     "_Complex",  "_Imaginary",
      "__vector",  "this",          "new",        "delete",        "co_await",  "sizeof",
      "alignof",   "throw",         "true",       "false",         "allocator", "basic_string",
      "string",    "basic_istream", "istream",    "basic_ostream", "ostream",   "basic_iostream",
      "iostream",  "non",           "virtual",    "thunk",         "to",        "covariant",
      "return",    "transaction",   "safe",       "for",           "TLS",       "init",
      "function",  "wrapper",       "reference",  "temporary",     "guard",     "variable"};
  return words->contains(word) || absl::ascii_isdigit(word.front());
}

}  // namespace

Nesting NestingOf(absl::string_view text) {
  Nesting nesting;
  Brackets brackets;
  nesting.depths.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (const size_t length = OperatorLength(text, i); length != 0) {
      nesting.depths.insert(nesting.depths.end(), kOperator.size(), brackets.depth());
      nesting.depths.insert(nesting.depths.end(), length - kOperator.size(), brackets.depth() + 1);
      i += length - 1;
      continue;
    }
    const uint32_t before = brackets.depth();
    if (text[i] == '(' || text[i] == '<') brackets.Open(text[i], i);
    if (text[i] == ')') brackets.CloseParenthesis(i, nesting);
    if (text[i] == '>' && (i == 0 || text[i - 1] != '-')) brackets.CloseAngle();
    nesting.depths.push_back(std::max(before, brackets.depth()));
  }
  if (brackets.depth() != 0) nesting.is_balanced = false;
  return nesting;
}

absl::string_view WithoutParameters(absl::string_view name) {
  const Nesting nesting = NestingOf(name);
  if (nesting.outer.empty()) return name;
  const auto [begin, end] = nesting.outer.back();
  const bool is_name = absl::StartsWith(name.substr(begin), kAnonymous) ||
                       absl::StartsWith(name.substr(end + 1), "::");
  return is_name ? name : name.substr(0, begin);
}

std::string Normalized(absl::string_view name) {
  std::string text(name);
  while (absl::StrContains(text, "> >")) text = absl::StrReplaceAll(text, {{"> >", ">>"}});
  return text;
}

absl::string_view WordOfMangled(absl::string_view name) {
  const Nesting nesting = NestingOf(name);
  if (!nesting.is_balanced) return "";
  absl::string_view longest;
  size_t begin = 0;
  int tags = 0;  // depth in [abi:…], [clone …], {lambda…}
  for (size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && IsWordCharacter(name[i]) && nesting.depths[i] == 0 && tags == 0) {
      continue;
    }
    const absl::string_view word = name.substr(begin, i - begin);
    if (word.size() > longest.size() && !IsAbbreviated(word)) longest = word;
    begin = i + 1;
    if (i == name.size()) break;
    if (name[i] == '[' || name[i] == '{') ++tags;
    if (name[i] == ']' || name[i] == '}') --tags;
  }
  return longest;
}

}  // namespace jtrace::native_hooks
