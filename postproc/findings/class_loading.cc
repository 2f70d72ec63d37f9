// Programs that are mostly busy with loading classes, as at their start.
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "common/jdk_packages.h"
#include "postproc/findings/rules.h"
#include "postproc/findings/topics.h"
#include "postproc/report/units.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr double kLeastLoadingShare = 20;  // percent of the time
constexpr int64_t kLeastClasses = 200;     // other than the JDK's

constexpr Topic kLoadingTopics[] = {
    {"java.lang.ClassLoader.loadClass*", ""},
    {"java.lang.ClassLoader.defineClass*", ""},
    {"java.lang.ClassLoader.findLoadedClass*", ""},
    {"java.net.URLClassLoader.findClass", ""},
    {"java.security.SecureClassLoader.defineClass", ""},
    {"jdk.internal.loader.BuiltinClassLoader.*", ""},
    {"jdk.internal.loader.ClassLoaders$*", ""},
    {"SystemDictionary::*", ""},
    {"ClassFileParser::*", ""},
    {"ClassLoader::load_class*", ""},
    {"InstanceKlass::link_class*", ""},
};

bool KnowsLoading(const Facts& facts) {
  return facts.has_stacks() && !facts.input().classes.classes().empty();
}

// Where the most of some classes come from.
struct Most {
  std::string name;
  int64_t classes = 0;
};

struct LoadedClasses {
  int64_t all = 0;
  int64_t of_others = 0;    // than the JDK
  int64_t with_source = 0;  // of these
  Most source;
  Most package;
};

// The agent defines some beside the program.
bool IsOfAgent(std::string_view name) { return name.starts_with("jtrace."); }

using Counts = absl::flat_hash_map<std::string, int64_t>;

void AddTo(Counts& counts, const std::string& name, int64_t loads) {
  int64_t& sum = counts[name];
  sum = WrapAdd(sum, loads);
}

// Of several the first by name.
Most MostOf(const Counts& counts) {
  Most most;
  for (const auto& [name, classes] : counts) {
    if (classes > most.classes || (classes == most.classes && name < most.name)) {
      most = {name, classes};
    }
  }
  return most;
}

// "fop.jar" of "/usr/share/java/fop.jar", of a jar in a jar the inner one; folders are whole.
std::string ShortSource(std::string_view source) {
  if (source.ends_with("!/")) source.remove_suffix(2);
  if (source.ends_with('/')) return std::string(source);
  return std::string(source.substr(source.rfind('/') + 1));
}

LoadedClasses CountClasses(const ClassLog& log) {
  LoadedClasses count;
  Counts packages;
  Counts sources;
  for (const auto& [name, entry] : log.classes()) {
    count.all = WrapAdd(count.all, entry.loads);
    if (entry.loads == 0 || IsJdkClass(name) || IsOfAgent(name)) continue;
    count.of_others = WrapAdd(count.of_others, entry.loads);
    const bool has_package = name.find('.') != std::string::npos;
    AddTo(packages, has_package ? LibraryOf(StrCat(name, ".x")) : "the unnamed package",
          entry.loads);
    if (entry.source.empty()) continue;
    count.with_source = WrapAdd(count.with_source, entry.loads);
    AddTo(sources, entry.source, entry.loads);
  }
  count.source = MostOf(sources);
  count.package = MostOf(packages);
  return count;
}

// ", 611 of them from maven-core.jar": the package, where most sources are unknown.
std::string MostlyOf(const LoadedClasses& classes) {
  if (classes.with_source > 0 && classes.with_source >= classes.of_others / 2) {
    return StrCat(", ", FormatCount(classes.source.classes), " of them from ",
                  ShortSource(classes.source.name));
  }
  if (classes.package.name.empty()) return "";
  return StrCat(", ", FormatCount(classes.package.classes), " of them of ", classes.package.name);
}

void FindClassLoading(const Facts& facts, std::vector<Finding>& findings) {
  int64_t time = 0;
  for (const TopicUse& use : UsesOf(facts, kLoadingTopics, TopicOwner::kNearest)) {
    time = WrapAdd(time, use.time);
  }
  if (!facts.IsMuchTime(time, kLeastLoadingShare)) return;
  const LoadedClasses classes = CountClasses(facts.input().classes);
  if (classes.of_others < kLeastClasses) return;
  std::string evidence =
      StrCat(facts.FormatTime(time), " of ", facts.FormatTime(facts.whole_time()), "; ",
             Counted(classes.all, "class is", "classes are"), " loaded", MostlyOf(classes));
  findings.push_back(
      {.share = facts.ShareOfTime(time),
       .of = ShareOf::kTime,
       .sentence =
           StrCat("class loading takes ", FormatPercent(facts.ShareOfTime(time)),
                  " of the time: ", FormatCount(classes.of_others), " classes besides the JDK's"),
       .evidence = std::move(evidence),
       .suggestion =
           "an archive of classes shortens a start: -XX:ArchiveClassesAtExit=FILE makes one",
       .next = {"--report=classes"}});
}

}  // namespace

const Rule kClassLoading = {"class-loading",
                            "loading of classes that takes a good part of the time",
                            "mode=merged with stack=full", KnowsLoading, FindClassLoading};

}  // namespace jtrace::postproc
