#include "postproc/fleet/stable_names.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "postproc/fleet/stable_ids.h"
#include "postproc/reader/java_names.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::fleet {
namespace {

bool AllDigits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isdigit(c); });
}

bool AllHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return absl::ascii_isxdigit(c); });
}

// What precedes the digits at the end, if `mark` is right before them.
std::optional<std::string_view> BeforeNumber(std::string_view name, std::string_view mark) {
  const size_t at = name.rfind(mark);
  if (at == std::string_view::npos || !AllDigits(name.substr(at + mark.size()))) return {};
  return name.substr(0, at);
}

// Packages that the JDK chooses itself for proxies.
bool IsProxyPackage(std::string_view package) {
  if (package == "com.sun.proxy.") return true;
  constexpr std::string_view kNumbered = "jdk.proxy";
  return package.starts_with(kNumbered) && package.ends_with(".") &&
         AllDigits(package.substr(kNumbered.size(), package.size() - kNumbered.size() - 1));
}

std::optional<std::string> StableProxy(std::string_view name) {
  const auto package = BeforeNumber(name, "$Proxy");
  if (!package.has_value() || (!package->empty() && !package->ends_with("."))) return {};
  return StrCat(IsProxyPackage(*package) ? "" : *package, "$Proxy");
}

std::optional<std::string> StableAccessor(std::string_view name) {
  for (const std::string_view kind : {"GeneratedMethodAccessor", "GeneratedConstructorAccessor",
                                      "GeneratedSerializationConstructorAccessor"}) {
    const auto package = BeforeNumber(name, kind);
    if (package == "jdk.internal.reflect." || package == "sun.reflect.") {
      return StrCat("jdk.internal.reflect.", kind);
    }
  }
  return {};
}

std::optional<std::string> StableLambdaForm(std::string_view name) {
  constexpr std::string_view kForm = "java.lang.invoke.LambdaForm$";
  if (!name.starts_with(kForm)) return {};
  for (const std::string_view kind : {"DMH", "BMH", "LFI", "MH"}) {
    const std::string_view rest = name.substr(kForm.size());
    if (rest.starts_with(kind) && AllDigits(rest.substr(kind.size()))) return StrCat(kForm, kind);
  }
  return {};
}

// "a.B$$EnhancerBySpringCGLIB$$1a2b3c4d", and classes that are made of such ones:
// "a.B$$EnhancerBySpringCGLIB$$1a2b3c4d$$FastClassBySpringCGLIB$$5e6f"
std::optional<std::string> StableCglib(std::string_view name) {
  constexpr std::string_view kMark = "CGLIB$$";
  constexpr size_t kSeparator = 2;  // "$$"
  std::string stable;
  bool is_numbered = false;
  for (size_t at = name.find(kMark); at != std::string_view::npos; at = name.find(kMark)) {
    const size_t before = at + kMark.size() - kSeparator;
    const std::string_view rest = name.substr(at + kMark.size());
    const std::string_view number = rest.substr(0, rest.find('$'));
    const std::string_view behind = rest.substr(number.size());
    const bool is_number =
        !number.empty() && AllHex(number) && (behind.empty() || behind.starts_with("$$"));
    is_numbered = is_numbered || is_number;
    StrAppend(&stable, name.substr(0, is_number ? before : before + kSeparator));
    name = is_number ? behind : rest;
  }
  if (!is_numbered) return {};
  return StrCat(stable, name);
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

std::string StableClassName(std::string_view name) {
  std::string plain = NormalizeClassName(name);  // hidden classes and lambdas
  for (const auto stable : {StableProxy, StableAccessor, StableLambdaForm, StableCglib}) {
    if (std::optional<std::string> found = stable(plain)) return *std::move(found);
  }
  return plain;
}

StableRoutine MakeStable(const TraceModel& model, RoutineId routine) {
  StableRoutine it;
  if (const std::optional<JavaMember> member = model.MemberOf(routine)) {
    it.class_name = OneLine(StableClassName(member->class_name));
    it.name = OneLine(std::string(member->name));
    it.descriptor = OneLine(std::string(member->descriptor));
    it.shown = StrCat(it.class_name, ".", it.name, "(",
                      DescribeTypes(it.descriptor, /*qualified=*/false).parameters, ")");
    it.identity = StrCat(it.class_name, ".", it.name, it.descriptor);
  } else {
    it.shown = OneLine(std::string(model.RoutineName(routine)));
    it.name = it.shown;
    it.identity = it.shown;
  }
  it.id = StableId(it.identity);
  return it;
}

}  // namespace jtrace::postproc::fleet
