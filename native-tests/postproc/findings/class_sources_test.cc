// Where loaded classes come from: the jar with the most of them, or else the package.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "native-tests/postproc/findings/finding_trace.h"

namespace jtrace {
namespace {

using testing::FindingTrace;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Rows;

class Loads {
 public:
  Loads() {
    trace_.Calls({"app.Main.main(String[])"}, 1);
    trace_.Ticks({"app.Main.main(String[])"}, {"C:java.lang.ClassLoader.loadClass(String)"}, 100);
  }
  Loads& Of(const std::string& package, int classes, const std::string& source) {
    const std::string more = source.empty() ? "" : "\t" + source;
    for (int i = 0; i < classes; ++i) {
      trace_.Record("\tclass-load\t" + package + ".C" + std::to_string(i) + "\tmethods=3" + more);
    }
    return *this;
  }
  std::string Evidence() const {
    const auto rows = Rows(trace_.text(), "findings", {"rule", "evidence"});
    for (const auto& row : rows) {
      if (row[0] == "class-loading") return row[1];
    }
    return "";
  }

 private:
  FindingTrace trace_;
};

TEST(ClassSourcesTest, TheJarWithTheMostClasses) {
  EXPECT_THAT(Loads()
                  .Of("app.a.x", 150, "/opt/lib/one.jar")
                  .Of("app.b.y", 100, "/opt/lib/two.jar")
                  .Of("app.c.z", 90, "/opt/lib/two.jar")
                  .Evidence(),
              HasSubstr("; 340 classes are loaded, 190 of them from two.jar"));
}

TEST(ClassSourcesTest, TheInnerJarOfTwo) {
  EXPECT_THAT(Loads().Of("app.a.x", 250, "file:/opt/app.jar!/BOOT-INF/lib/in.jar!/").Evidence(),
              HasSubstr("250 of them from in.jar"));
}

TEST(ClassSourcesTest, AFolderIsWhole) {
  EXPECT_THAT(Loads().Of("app.a.x", 250, "/home/me/shop/target/classes/").Evidence(),
              HasSubstr("250 of them from /home/me/shop/target/classes/"));
}

// A class without methods has its source, too.
TEST(ClassSourcesTest, InterfacesWithoutMethods) {
  FindingTrace trace;
  trace.Record("\tclass-load\tapp.Mark\t/opt/lib/one.jar");
  EXPECT_THAT(Rows(trace.text(), "classes", {"name", "source", "methods"}),
              ::testing::ElementsAre(testing::CsvRow{"app.Mark", "/opt/lib/one.jar", "0"}));
}

TEST(ClassSourcesTest, NotOfTracesWithoutSources) {
  EXPECT_THAT(Loads().Of("app.a.x", 250, "").Evidence(), HasSubstr("250 of them of app.a.x"));
}

TEST(ClassSourcesTest, NotIfMostSourcesAreUnknown) {
  EXPECT_THAT(Loads().Of("app.a.x", 250, "").Of("app.b.y", 200, "/opt/lib/one.jar").Evidence(),
              HasSubstr("250 of them of app.a.x"));
}

TEST(ClassSourcesTest, NotTheJdk) {
  const std::string evidence =
      Loads().Of("com.sun.tools", 900, "jrt:/jdk.compiler").Of("app.a.x", 250, "/a.jar").Evidence();
  EXPECT_THAT(evidence, HasSubstr("1,150 classes are loaded, 250 of them from a.jar"));
  EXPECT_THAT(evidence, Not(HasSubstr("jdk.compiler")));
}

}  // namespace
}  // namespace jtrace
