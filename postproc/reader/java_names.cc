#include "postproc/reader/java_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

// Removes "/0x…", "+0x…" or ".0x…" from the end.
void CutHiddenSuffix(std::string& name) {
  const size_t mark = name.rfind("0x");
  if (mark == std::string::npos || mark < 2) return;
  if (std::string_view("/+.").find(name[mark - 1]) == std::string_view::npos) return;
  const bool all_hex = std::all_of(name.begin() + static_cast<std::ptrdiff_t>(mark) + 2, name.end(),
                                   [](char c) { return absl::ascii_isxdigit(c); });
  if (all_hex) name.resize(mark - 1);
}

std::string_view PrimitiveName(char c) {
  switch (c) {
    case 'B':
      return "byte";
    case 'C':
      return "char";
    case 'D':
      return "double";
    case 'F':
      return "float";
    case 'I':
      return "int";
    case 'J':
      return "long";
    case 'S':
      return "short";
    case 'Z':
      return "boolean";
    case 'V':
      return "void";
    default:
      return "";
  }
}

// Removes one field type from the front; false if there is none.
bool TakeType(std::string_view& rest, bool qualified, std::string& text) {
  size_t dimensions = 0;
  while (dimensions < rest.size() && rest[dimensions] == '[') ++dimensions;
  rest.remove_prefix(dimensions);
  if (rest.empty() || dimensions > 255) return false;
  std::string type;
  if (rest.front() == 'L') {
    const size_t end = rest.find(';');
    if (end == std::string_view::npos) return false;
    type = rest.substr(1, end - 1);
    ReplaceAll(type, "/", ".");
    if (!qualified) type.erase(0, type.rfind('.') + 1);
    rest.remove_prefix(end + 1);
  } else {
    type = PrimitiveName(rest.front());
    if (type.empty()) return false;
    rest.remove_prefix(1);
  }
  text += type;
  for (; dimensions > 0; --dimensions) text += "[]";
  return true;
}

bool ParseDescriptor(std::string_view descriptor, bool qualified, DescriptorText& text) {
  if (descriptor.empty() || descriptor.front() != '(') return false;
  descriptor.remove_prefix(1);
  while (!descriptor.empty() && descriptor.front() != ')') {
    if (!text.parameters.empty()) text.parameters += ',';
    if (!TakeType(descriptor, qualified, text.parameters)) return false;
  }
  if (descriptor.empty()) return false;
  descriptor.remove_prefix(1);
  return TakeType(descriptor, qualified, text.result) && descriptor.empty();
}

enum Detail { kSimple, kResult, kQualified, kLoader, kResultLoader, kQualifiedLoader, kDetails };

std::string Show(const JavaRoutine& routine, Detail detail) {
  const bool with_loader = detail >= kLoader;
  const Detail types = with_loader ? static_cast<Detail>(detail - kLoader) : detail;
  const DescriptorText text = DescribeTypes(routine.descriptor, types == kQualified);
  std::string shown = StrCat(routine.class_name, ".", routine.name, "(", text.parameters, ")");
  if (types != kSimple) StrAppend(&shown, ":", text.result);
  if (with_loader) StrAppend(&shown, " [loader ", routine.loader, "]");
  return shown;
}

}  // namespace

std::string NormalizeClassName(std::string_view name) {
  std::string normal(name);
  CutHiddenSuffix(normal);
  constexpr std::string_view kLambda = "$$Lambda$";
  const size_t lambda = normal.rfind(kLambda);
  if (lambda != std::string::npos &&
      std::all_of(normal.begin() + static_cast<std::ptrdiff_t>(lambda + kLambda.size()),
                  normal.end(), [](char c) { return absl::ascii_isdigit(c); })) {
    normal.resize(lambda + kLambda.size() - 1);
  }
  return normal;
}

DescriptorText DescribeTypes(std::string_view descriptor, bool qualified) {
  DescriptorText text;
  if (ParseDescriptor(descriptor, qualified, text)) return text;
  return {std::string(descriptor), ""};
}

uint32_t JavaNames::Intern(const JavaRoutine& routine) {
  const PartId class_name = parts_.Intern(routine.class_name);
  const PartId name = parts_.Intern(routine.name);
  const PartId descriptor = parts_.Intern(routine.descriptor);
  const auto [entry, inserted] = index_.try_emplace(
      std::tuple(class_name, name, descriptor, routine.loader), routines_.size());
  if (inserted) {
    routines_.push_back(
        {parts_.Text(class_name), parts_.Text(name), parts_.Text(descriptor), routine.loader});
  }
  return entry->second;
}

void JavaNames::AssignNames() {
  index_ = {};
  names_.assign(routines_.size(), "");
  std::vector<uint32_t> unnamed(routines_.size());
  for (uint32_t i = 0; i < unnamed.size(); ++i) unnamed[i] = i;
  for (int detail = kSimple; detail < kDetails && !unnamed.empty(); ++detail) {
    absl::flat_hash_map<std::string_view, uint32_t> first_of;
    std::vector<uint32_t> sharing;
    for (const uint32_t i : unnamed) {
      names_[i] = Show(routines_[i], static_cast<Detail>(detail));
      const auto [first, is_new] = first_of.try_emplace(names_[i], i);
      if (is_new) continue;
      sharing.push_back(first->second);
      sharing.push_back(i);
    }
    std::sort(sharing.begin(), sharing.end());
    sharing.erase(std::unique(sharing.begin(), sharing.end()), sharing.end());
    unnamed = std::move(sharing);
  }
  // Reached only by names that no compiler makes.
  for (const uint32_t i : unnamed) {
    names_[i] = StrCat(Show(routines_[i], kQualifiedLoader), " [", i, "]");
  }
}

}  // namespace jtrace::postproc
