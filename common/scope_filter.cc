#include "common/scope_filter.h"

#include <algorithm>
#include <utility>

#include "common/jdk_packages.h"

namespace jtrace::classfile {
namespace {

constexpr std::string_view kOwnPrefixes[] = {"jtrace/", "java/lang/invoke/JTrace"};

// jtrace itself, and the classes that the probe runs through: probing those would recurse. The
// processor's clock is read through a method handle, from JDK 22 on through one of
// java.lang.foreign's.
constexpr std::string_view kNeverPrefixes[] = {
    "jtrace/",
    "java/lang/foreign/",
    "java/lang/invoke/",
    "jdk/internal/foreign/",
};
constexpr std::string_view kNeverClasses[] = {
    "java/lang/Object",         "java/lang/Thread", "java/util/Objects",
    "jdk/internal/misc/Unsafe", "sun/misc/Unsafe",
};

bool StartsWithAny(std::string_view name, absl::Span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [name](std::string_view prefix) { return name.starts_with(prefix); });
}

bool IsNeverProbed(std::string_view name) {
  return StartsWithAny(name, kNeverPrefixes) ||
         std::find(std::begin(kNeverClasses), std::end(kNeverClasses), name) !=
             std::end(kNeverClasses);
}

// A star of a glob that was passed, and the first character after the text that it matches.
struct Star {
  size_t glob = std::string_view::npos;
  size_t text = 0;
  bool seen() const { return glob != std::string_view::npos; }
};

// `*` matches any characters except '/', `**` any at all. A mismatch returns to the last star of
// either kind: a character that `*` cannot match, the `**` before it may match.
bool GlobMatches(std::string_view glob, std::string_view text) {
  size_t g = 0;
  size_t t = 0;
  Star narrow;
  Star wide;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      const bool crosses = g + 1 < glob.size() && glob[g + 1] == '*';
      g += crosses ? 2 : 1;
      (crosses ? wide : narrow) = {g, t};
      if (crosses) narrow = {};
    } else if (g < glob.size() && glob[g] == text[t]) {
      ++g;
      ++t;
    } else if (narrow.seen() && text[narrow.text] != '/') {
      g = narrow.glob;
      t = ++narrow.text;
    } else if (wide.seen()) {
      narrow = {};
      g = wide.glob;
      t = ++wide.text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

// "java.lang.String" to "java/lang/String".
std::string WithSlashes(std::string_view dotted_name) {
  std::string name(dotted_name);
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool IsWellFormed(std::string_view pattern) {
  return !pattern.empty() && !Contains(pattern, "***") &&
         pattern.find_first_of(" \t,/()[:") == std::string_view::npos && pattern.front() != '.' &&
         pattern.back() != '.' && !Contains(pattern, "..");
}

// Removes the text up to the next `;` from `list` and returns it without surrounding blanks.
std::string_view NextElement(std::string_view& list) {
  constexpr std::string_view kBlanks = " \t";
  const size_t end = list.find(';');
  std::string_view text = list.substr(0, end);
  list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// A pattern covers JDK classes only if its first package is spelled out.
bool NamesPackage(std::string_view class_glob) {
  const size_t slash = class_glob.find('/');
  return slash != std::string_view::npos &&
         class_glob.substr(0, slash).find('*') == std::string_view::npos;
}

}  // namespace

ScopeFilter::ScopeFilter() = default;

ScopeFilter ScopeFilter::Everything() {
  ScopeFilter filter;
  filter.everything_ = true;
  return filter;
}

bool ScopeFilter::IsOwnClass(std::string_view class_name) {
  return StartsWithAny(class_name, kOwnPrefixes);
}

bool ScopeFilter::IsJdkClass(std::string_view class_name) { return jtrace::IsJdkClass(class_name); }

absl::Status ScopeFilter::Add(std::string_view text, std::vector<Pattern>& patterns) {
  auto add = [&patterns](std::string class_glob, std::string_view method_glob) {
    const bool names_package = NamesPackage(class_glob);
    patterns.push_back({std::move(class_glob), std::string(method_glob), names_package});
  };
  const size_t colons = text.find("::");
  const bool has_method = colons != std::string_view::npos;
  const std::string_view class_part = text.substr(0, colons);
  const std::string_view method_part = has_method ? text.substr(colons + 2) : std::string_view();
  if (!IsWellFormed(class_part) || (has_method && !IsWellFormed(method_part))) {
    return absl::InvalidArgumentError("bad pattern '" + std::string(text) + "'");
  }
  if (text == "*") {
    add("**", "");
    return absl::OkStatus();
  }
  add(WithSlashes(class_part), method_part);
  // `a.b.c` may be the class a.b.c or the method c of a.b.
  const size_t dot = text.rfind('.');
  if (!has_method && dot != std::string_view::npos && text[dot + 1] != '*') {
    add(WithSlashes(text.substr(0, dot)), text.substr(dot + 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ScopeFilter::Pattern>> ScopeFilter::Compile(
    absl::Span<const std::string> lists) {
  std::vector<Pattern> patterns;
  for (std::string_view list : lists) {
    while (!list.empty()) {
      const std::string_view text = NextElement(list);
      if (text.empty()) continue;
      if (absl::Status status = Add(text, patterns); !status.ok()) return status;
    }
  }
  return patterns;
}

absl::StatusOr<ScopeFilter> ScopeFilter::Create(absl::Span<const std::string> include,
                                                absl::Span<const std::string> exclude,
                                                absl::Span<const std::string> also) {
  ScopeFilter filter;
  absl::StatusOr<std::vector<Pattern>> patterns = Compile(include);
  if (!patterns.ok()) return patterns.status();
  filter.include_ = *std::move(patterns);
  patterns = Compile(exclude);
  if (!patterns.ok()) return patterns.status();
  filter.exclude_ = *std::move(patterns);
  patterns = Compile(also);
  if (!patterns.ok()) return patterns.status();
  filter.also_ = *std::move(patterns);
  return filter;
}

bool ScopeFilter::Matches(const Pattern& pattern, std::string_view class_name) {
  return GlobMatches(pattern.class_glob, class_name);
}

bool ScopeFilter::Pattern::Matches(std::string_view class_name,
                                   std::string_view method_name) const {
  return GlobMatches(class_glob, class_name) &&
         (method_glob.empty() || GlobMatches(method_glob, method_name));
}

ScopeFilter::ClassScope ScopeFilter::ScopeOf(std::string_view class_name) const {
  if (everything_) return ClassScope::kAllMethods;
  if (IsNeverProbed(class_name)) return ClassScope::kNone;
  const ClassScope scope = ScopeByPatterns(class_name);
  if (scope != ClassScope::kNone || also_.empty()) return scope;
  const bool jdk = IsJdkClass(class_name);
  const bool is_also = std::any_of(also_.begin(), also_.end(), [&](const Pattern& pattern) {
    return (!jdk || pattern.names_package) && Matches(pattern, class_name);
  });
  return is_also ? ClassScope::kSomeMethods : scope;
}

bool ScopeFilter::IsExempt(std::string_view class_name) const {
  return !everything_ && IsNeverProbed(class_name) && !IsOwnClass(class_name) &&
         ScopeByPatterns(class_name) != ClassScope::kNone;
}

ScopeFilter::ClassScope ScopeFilter::ScopeByPatterns(std::string_view class_name) const {
  const bool jdk = IsJdkClass(class_name);
  ClassScope scope = include_.empty() && !jdk ? ClassScope::kAllMethods : ClassScope::kNone;
  for (const Pattern& pattern : include_) {
    if (scope == ClassScope::kAllMethods) break;
    if ((jdk && !pattern.names_package) || !Matches(pattern, class_name)) continue;
    scope = pattern.method_glob.empty() ? ClassScope::kAllMethods : ClassScope::kSomeMethods;
  }
  if (scope == ClassScope::kNone) return scope;
  for (const Pattern& pattern : exclude_) {
    if (!Matches(pattern, class_name)) continue;
    if (pattern.method_glob.empty()) return ClassScope::kNone;
    scope = ClassScope::kSomeMethods;
  }
  return scope;
}

bool ScopeFilter::IsAlso(std::string_view class_name, std::string_view method_name) const {
  return std::any_of(also_.begin(), also_.end(), [&](const Pattern& pattern) {
    return pattern.Matches(class_name, method_name) &&
           (pattern.names_package || !IsJdkClass(class_name));
  });
}

bool ScopeFilter::Includes(std::string_view class_name, std::string_view method_name) const {
  if (everything_) return true;
  if (IsNeverProbed(class_name)) return false;
  const bool jdk = IsJdkClass(class_name);
  if (IsAlso(class_name, method_name)) return true;
  auto matches = [&](const Pattern& pattern) { return pattern.Matches(class_name, method_name); };
  if (std::any_of(exclude_.begin(), exclude_.end(), matches)) return false;
  if (include_.empty()) return !jdk;
  return std::any_of(include_.begin(), include_.end(), [&](const Pattern& pattern) {
    return (!jdk || pattern.names_package) && matches(pattern);
  });
}

}  // namespace jtrace::classfile
