#include "agent/calls/instrument/program_scope.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/base/class_names.h"

namespace jtrace::calls {
namespace {

// Frameworks, servers, languages and drivers that programs are built on: packages with all that is
// below them.
constexpr std::string_view kLibraries =
    "akka antlr brave ch.qos clojure com.amazonaws com.azure com.codahale com.datastax "
    "com.esotericsoftware com.fasterxml com.github.benmanes com.google com.ibm com.lmax "
    "com.microsoft com.mongodb com.mysql com.oracle com.rabbitmq com.sun com.typesafe "
    "com.zaxxer dagger feign freemarker groovy groovyjarjarantlr4 io.grpc io.lettuce "
    "io.micrometer io.micronaut io.netty io.opentelemetry io.prometheus io.quarkus "
    "io.reactivex io.smallrye io.undertow io.vertx jakarta javassist javax jline junit kotlin "
    "kotlinx liquibase net.bytebuddy net.sf.cglib okhttp3 okio oracle org.antlr org.apache "
    "org.aspectj org.bouncycastle org.codehaus org.eclipse org.flywaydb org.glassfish org.h2 "
    "org.hibernate org.hsqldb org.jboss org.jetbrains org.junit org.mariadb org.mockito "
    "org.mozilla org.objectweb org.postgresql org.reactivestreams org.slf4j "
    "org.springframework org.thymeleaf org.w3c org.wildfly org.xml org.yaml picocli play "
    "reactor redis retrofit2 rx scala zipkin2";

// Prefixes that unrelated projects share: it takes three parts to name a project.
constexpr std::string_view kHosts =
    "com.github com.gitlab com.google com.sun io.github net.sf org.apache org.codehaus "
    "org.eclipse org.jboss org.w3c";

// Packages whose main class starts other programs.
constexpr std::string_view kLaunchers =
    "com.sun.enterprise io.quarkus.bootstrap org.apache.catalina org.apache.hadoop "
    "org.apache.karaf org.apache.spark org.codehaus org.eclipse.jetty org.glassfish "
    "org.gradle org.jboss.modules org.springframework.boot.loader play.core.server scala.tools.nsc";

bool IsIn(std::string_view name, std::string_view package) {
  return name.starts_with(package) &&
         (name.size() == package.size() || name[package.size()] == '.');
}

// `packages`: separated by blanks.
bool IsInOneOf(std::string_view name, std::string_view packages) {
  for (const absl::string_view package : absl::StrSplit(Abseil(packages), ' ')) {
    if (IsIn(name, Std(package))) return true;
  }
  return false;
}

// The first `parts` parts of a package, or all if it has fewer.
std::string_view FirstParts(std::string_view package, int parts) {
  size_t end = package.find('.');
  while (--parts > 0 && end != std::string_view::npos) end = package.find('.', end + 1);
  return package.substr(0, end);
}

int PartsOf(std::string_view package) {
  return static_cast<int>(std::count(package.begin(), package.end(), '.')) + 1;
}

// How many parts of a package name its project: "com.acme", "org.apache.kafka", "kafka".
int PartsOfProject(std::string_view package) {
  constexpr size_t kLongestDomain = 3;  // "com", "de"
  if (FirstParts(package, 1).size() > kLongestDomain) return 1;
  return IsInOneOf(package, kHosts) ? 3 : 2;
}

// A package with all packages below it (is_whole), or only its own classes.
struct Candidate {
  std::string package;
  bool is_whole = true;
  ProbeWork work;
  size_t stacks = 0;
  bool is_main = false;
};

bool IsBefore(const Candidate& a, const Candidate& b) {
  if (a.is_main != b.is_main) return a.is_main;
  if (a.stacks != b.stacks) return a.stacks > b.stacks;
  if (a.work.methods != b.work.methods) return a.work.methods > b.work.methods;
  return a.package < b.package;
}

class Chooser {
 public:
  Chooser(std::span<const ClassToProbe> classes, std::string_view main_class,
          std::span<const PackagesOfStack> stacks)
      : classes_(classes), main_package_(PackageOf(main_class)), stacks_(stacks) {}

  ProgramScope Choose() {
    std::vector<Candidate> projects = CandidatesBy("", PartsOfProject);
    const auto keep = [&](auto wanted) {
      std::vector<Candidate> kept;
      std::copy_if(projects.begin(), projects.end(), std::back_inserter(kept), wanted);
      if (!kept.empty()) projects = std::move(kept);
    };
    const bool starts_others = IsInOneOf(main_package_, kLaunchers);
    keep([&](const Candidate& it) {
      return (it.is_main && !starts_others) || !IsInOneOf(it.package, kLibraries);
    });
    // Else a package on no stack may be the program's: it waits, or has virtual threads only.
    const bool knows_main = std::any_of(projects.begin(), projects.end(),
                                        [](const Candidate& it) { return it.is_main; });
    if (knows_main) keep([](const Candidate& it) { return it.is_main || it.stacks > 0; });
    for (const Candidate& project : projects) Add(project);
    if (scope_.patterns.empty() && !projects.empty()) AddWhole(projects.front());
    return std::move(scope_);
  }

 private:
  // Groups the classes in and below `above` by the first parts(package) parts of their package. A
  // package with fewer parts stands for its own classes. The best candidate is first.
  template <typename Parts>
  std::vector<Candidate> CandidatesBy(std::string_view above, Parts parts) const {
    std::map<std::pair<std::string_view, bool>, ProbeWork> found;
    for (const ClassToProbe& klass : classes_) {
      const std::string_view package = PackageOf(klass.name);
      if (package.empty() || (!above.empty() && !IsIn(package, above))) continue;
      const int wanted = parts(package);
      ProbeWork& work = found[{FirstParts(package, wanted), PartsOf(package) >= wanted}];
      ++work.classes;
      work.methods += klass.methods;
    }
    std::vector<Candidate> candidates;
    for (const auto& [name, work] : found) {
      Candidate& added = candidates.emplace_back(
          Candidate{.package = std::string(name.first), .is_whole = name.second, .work = work});
      added.is_main = !main_package_.empty() && Covers(added, main_package_);
      added.stacks = static_cast<size_t>(
          std::count_if(stacks_.begin(), stacks_.end(), [&](const PackagesOfStack& stack) {
            return std::any_of(stack.begin(), stack.end(),
                               [&](std::string_view it) { return Covers(added, it); });
          }));
    }
    std::sort(candidates.begin(), candidates.end(), IsBefore);
    return candidates;
  }

  static bool Covers(const Candidate& candidate, std::string_view package) {
    return candidate.is_whole ? IsIn(package, candidate.package) : package == candidate.package;
  }

  bool Fits(const ProbeWork& work) const {
    return EstimatedCost(work) + EstimatedCost(scope_.work) <= kCostOfProgramScope;
  }

  // Adds the package if it fits, else those packages below it that fit, the best first.
  void Add(const Candidate& candidate) {
    if (Fits(candidate.work)) return AddWhole(candidate);
    if (!candidate.is_whole) return;
    const int parts = PartsOf(candidate.package) + 1;
    for (const Candidate& part :
         CandidatesBy(candidate.package, [parts](std::string_view) { return parts; })) {
      Add(part);
    }
  }

  void AddWhole(const Candidate& candidate) {
    scope_.patterns.push_back(absl::StrCat(candidate.package, candidate.is_whole ? ".**" : ".*"));
    scope_.work.classes += candidate.work.classes;
    scope_.work.methods += candidate.work.methods;
  }

  std::span<const ClassToProbe> classes_;
  std::string_view main_package_;
  std::span<const PackagesOfStack> stacks_;
  ProgramScope scope_;
};

}  // namespace

std::string_view PackageOf(std::string_view class_name) {
  const size_t dot = class_name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : class_name.substr(0, dot);
}

ProgramScope ChooseProgramScope(std::span<const ClassToProbe> classes, std::string_view main_class,
                                std::span<const PackagesOfStack> stacks) {
  return Chooser(classes, main_class, stacks).Choose();
}

}  // namespace jtrace::calls
