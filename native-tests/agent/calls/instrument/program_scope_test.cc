#include "agent/calls/instrument/program_scope.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace jtrace::calls {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of which one fits, and ten do not.
constexpr size_t kMany = 3000;

std::vector<std::string> Chosen(const std::vector<ClassToProbe>& classes, std::string_view main,
                                const std::vector<PackagesOfStack>& stacks = {}) {
  return ChooseProgramScope(classes, main, stacks).patterns;
}

TEST(OwnScopeTest, TheMainClasssProjectAndThoseSeen) {
  const std::vector<ClassToProbe> classes = {{"com.acme.Main", 3},
                                             {"com.acme.shop.Cart", 20},
                                             {"org.springframework.web.Servlet", kMany},
                                             {"net.partner.Prices", 10},
                                             {"net.idle.Never", 10}};
  const std::vector<PackagesOfStack> stacks = {
      {"com.acme.shop", "org.springframework.web"}, {"net.partner"}, {"net.partner"}};
  EXPECT_THAT(Chosen(classes, "com.acme.Main", stacks),
              ElementsAre("com.acme.**", "net.partner.**"));
  // Of a jar the main class is not known: it may be of a package that waits.
  EXPECT_THAT(Chosen(classes, "/srv/app.jar", stacks),
              ElementsAre("net.partner.**", "com.acme.**", "net.idle.**"));
}

// A server started as such, without programs in it.
TEST(OwnScopeTest, LibrariesIfThereIsNothingElse) {
  const std::vector<ClassToProbe> classes = {{"org.apache.catalina.startup.Bootstrap", 10},
                                             {"org.apache.coyote.Request", 30},
                                             {"org.apache.juli.Log", 500}};
  EXPECT_THAT(Chosen(classes, "org.apache.catalina.startup.Bootstrap", {{"org.apache.coyote"}}),
              ElementsAre("org.apache.catalina.**", "org.apache.coyote.**"));
  EXPECT_THAT(Chosen(classes, "x.jar"),
              ElementsAre("org.apache.juli.**", "org.apache.coyote.**", "org.apache.catalina.**"));
  EXPECT_THAT(Chosen({}, "com.acme.Main"), IsEmpty());
}

TEST(OwnScopeTest, AProgramInAServerIsChosenWithoutIt) {
  const std::vector<ClassToProbe> classes = {{"org.apache.catalina.startup.Bootstrap", 10},
                                             {"com.acme.Shop", 30}};
  EXPECT_THAT(Chosen(classes, "org.apache.catalina.startup.Bootstrap",
                     {{"com.acme", "org.apache.catalina.startup"}}),
              ElementsAre("com.acme.**"));
}

TEST(OwnScopeTest, OwnPackagesThatWereNotSeenComeBeforeLibrariesThatWere) {
  const std::vector<ClassToProbe> classes = {{"io.netty.Loop", 10}, {"com.acme.Shop", 30}};
  EXPECT_THAT(Chosen(classes, "app.jar", {{"io.netty"}}), ElementsAre("com.acme.**"));
}

TEST(OwnScopeTest, PackagesOfOneProjectByItsHostsName) {
  const std::vector<ClassToProbe> classes = {{"io.github.ann.app.Main", 10},
                                             {"io.github.bob.lib.Tool", 30}};
  EXPECT_THAT(Chosen(classes, "io.github.ann.app.Main"), ElementsAre("io.github.ann.**"));
}

TEST(OwnScopeTest, DividesWhatIsTooCostly) {
  std::vector<ClassToProbe> classes = {{"com.acme.Main", 3}, {"com.acme.a.Busy", kMany}};
  for (const char* const name : {"com.acme.b.x.B", "com.acme.b.y.B", "com.acme.c.C", "com.acme.d.D",
                                 "com.acme.e.E", "com.acme.f.F"}) {
    classes.push_back({name, kMany});
  }
  const ProgramScope scope = ChooseProgramScope(
      classes, "com.acme.Main",
      std::vector<PackagesOfStack>{{"com.acme.a"}, {"com.acme.a", "com.acme.b.y"}});
  EXPECT_LE(EstimatedCost(scope.work), kCostOfProgramScope);
  ASSERT_GE(scope.patterns.size(), 3u);
  EXPECT_EQ(scope.patterns[0], "com.acme.*");  // the main class's
  EXPECT_EQ(scope.patterns[1], "com.acme.a.**");
  EXPECT_EQ(scope.patterns[2], "com.acme.b.**");
}

// It has no parts: probes that cost more are better than none.
TEST(OwnScopeTest, APackageThatCannotBeDividedIsTaken) {
  EXPECT_THAT(Chosen({{"com.acme.Main", 30 * kMany}}, "com.acme.Main"), ElementsAre("com.acme.**"));
}

// Not the libraries' packages below it.
TEST(OwnScopeTest, AClassInADomainsPackageStandsForItsOwnClasses) {
  EXPECT_THAT(Chosen({{"com.Main", 10}, {"com.fasterxml.X", kMany}, {"io.github.Y", 5}}, "com.Main",
                     {{"io.github"}}),
              ElementsAre("com.*", "io.github.*"));
}

TEST(OwnScopeTest, AProjectOfOneWordIsWhole) {
  std::vector<ClassToProbe> classes = {{"kafka.Kafka", 10}, {"kafka.server.S", 20}};
  EXPECT_THAT(Chosen(classes, "kafka.Kafka"), ElementsAre("kafka.**"));
  classes.push_back({"kafka.log.L", 30 * kMany});
  EXPECT_THAT(Chosen(classes, "kafka.Kafka"), ElementsAre("kafka.*", "kafka.server.**"));
}

TEST(OwnScopeTest, AMainClassInALibraryIsTheProgramUnlessItStartsOthers) {
  const std::vector<ClassToProbe> classes = {{"org.apache.cassandra.service.Daemon", 10},
                                             {"org.apache.catalina.startup.Bootstrap", 10},
                                             {"com.clearspring.X", 30}};
  EXPECT_THAT(Chosen(classes, "org.apache.cassandra.service.Daemon"),
              ElementsAre("org.apache.cassandra.**"));
  EXPECT_THAT(Chosen(classes, "org.apache.catalina.startup.Bootstrap"),
              ElementsAre("com.clearspring.**"));
}

TEST(OwnScopeTest, AProgramInAFrameworksPackageComesFirst) {
  std::vector<ClassToProbe> classes = {{"org.springframework.samples.petclinic.Main", 10},
                                       {"org.springframework.web.Servlet", 30 * kMany}};
  EXPECT_THAT(
      Chosen(classes, "org.springframework.samples.petclinic.Main", {{"org.springframework.web"}}),
      ElementsAre("org.springframework.samples.**"));
  classes.push_back({"com.acme.Shop", 20});
  EXPECT_THAT(
      Chosen(classes, "org.springframework.boot.loader.JarLauncher", {{"org.springframework.web"}}),
      ElementsAre("com.acme.**"));
}

TEST(OwnScopeTest, ClassesWithoutPackageHaveNoPattern) {
  EXPECT_THAT(Chosen({{"Main", kMany}, {"kafka.Kafka", 10}, {"kafkaesque.X", 10}}, "kafka.Kafka"),
              ElementsAre("kafka.**"));
  EXPECT_EQ(PackageOf("Main"), "");
  EXPECT_EQ(PackageOf("com.acme.Main"), "com.acme");
}

}  // namespace
}  // namespace jtrace::calls
