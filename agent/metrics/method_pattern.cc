#include "agent/metrics/method_pattern.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "agent/calls/classfile/descriptor.h"
#include "common/nearest.h"

namespace jtrace::metrics {
namespace {

std::string PrimitiveName(char code) {
  switch (code) {
    case 'Z':
      return "boolean";
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'S':
      return "short";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'F':
      return "float";
    default:
      return "double";
  }
}

// Returns "java.lang.String[]" for "[Ljava/lang/String;".
std::string TypeName(absl::string_view field) {
  size_t dimensions = 0;
  while (absl::ConsumePrefix(&field, "[")) ++dimensions;
  std::string name = field[0] == 'L'
                         ? absl::StrReplaceAll(field.substr(1, field.size() - 2), {{"/", "."}})
                         : PrimitiveName(field[0]);
  for (; dimensions > 0; --dimensions) name += "[]";
  return name;
}

std::vector<std::string> ParameterTypes(absl::string_view descriptor) {
  std::vector<std::string> types;
  classfile::DescriptorReader reader({descriptor.data(), descriptor.size()});
  while (const auto field = reader.Next()) {
    types.push_back(TypeName({field->data(), field->size()}));
  }
  return types;
}

absl::string_view SimpleName(absl::string_view type) {
  return type.substr(type.find_last_of(".$") + 1);
}

// Returns "com.acme.Cache" for "com.acme.Cache::load*"; "" if the pattern names no single class.
std::string ClassName(absl::string_view name) {
  const size_t colons = name.find("::");
  const absl::string_view type = name.substr(0, colons);
  if (colons == absl::string_view::npos || absl::StrContains(type, "*")) return "";
  return std::string(type);
}

absl::Status NotAPattern(absl::string_view text) {
  return absl::InvalidArgumentError(
      absl::StrCat("'", text, "' names no method; write com.acme.Cache::load, ",
                   "java.sql.*::execute* or Cache::load(String,int) with the package"));
}

}  // namespace

absl::StatusOr<MethodPattern> MethodPattern::Parse(absl::string_view text) {
  if (text.size() > kLongest) {
    return absl::InvalidArgumentError(absl::StrCat("a pattern of ", text.size(),
                                                   " characters; write one of at most ", kLongest,
                                                   ", shortened by *"));
  }
  std::optional<std::vector<std::string>> parameters;
  absl::string_view name = absl::StripAsciiWhitespace(text);
  if (const size_t open = name.find('('); open != absl::string_view::npos) {
    if (!absl::EndsWith(name, ")")) return NotAPattern(text);
    const absl::string_view inside = name.substr(open + 1, name.size() - open - 2);
    parameters.emplace();
    for (absl::string_view type : absl::StrSplit(inside, ',', absl::SkipWhitespace())) {
      parameters->emplace_back(absl::StripAsciiWhitespace(type));
    }
    name = name.substr(0, open);
  }
  if (name.find_first_of(".:") == absl::string_view::npos || absl::StrContains(name, ";")) {
    return NotAPattern(text);
  }
  auto filter = classfile::ScopeFilter::Create(std::vector<std::string>{std::string(name)}, {});
  if (!filter.ok()) return NotAPattern(text);
  return MethodPattern(ClassName(name), *std::move(filter), std::move(parameters));
}

bool MethodPattern::Matches(absl::string_view class_name, absl::string_view method,
                            absl::string_view descriptor) const {
  const std::string internal = absl::StrReplaceAll(class_name, {{".", "/"}});
  if (!filter_.Includes(internal, {method.data(), method.size()})) return false;
  if (!parameters_.has_value()) return true;
  const std::vector<std::string> types = ParameterTypes(descriptor);
  return std::equal(types.begin(), types.end(), parameters_->begin(), parameters_->end(),
                    [](const std::string& type, const std::string& wanted) {
                      return type == wanted || SimpleName(type) == wanted;
                    });
}

std::string NearestMethod(absl::string_view pattern, const std::vector<std::string>& names) {
  const absl::string_view type = pattern.substr(0, pattern.find("::"));
  std::vector<absl::string_view> of_class;
  for (const absl::string_view name : names) {
    if (name.substr(0, name.find("::")) == type) of_class.push_back(name);
  }
  if (!of_class.empty()) return std::string(Nearest(pattern, of_class));
  return Nearest(pattern, names);
}

std::string MethodText(absl::string_view class_name, absl::string_view method,
                       absl::string_view descriptor) {
  const std::vector<std::string> types = ParameterTypes(descriptor);
  return absl::StrCat(class_name, ".", method, "(",
                      absl::StrJoin(types, ",",
                                    [](std::string* out, const std::string& type) {
                                      absl::StrAppend(out, SimpleName(type));
                                    }),
                      ")");
}

}  // namespace jtrace::metrics
