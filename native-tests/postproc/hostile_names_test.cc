// Names of classes, methods and threads in a JVM may be any UTF-16: how every form of output shows
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "common/visible_text.h"
#include "native-tests/support/export_readers.h"
#include "native-tests/support/run_post.h"
#include "native-tests/support/trace_builder.h"
#include "postproc/report/report.h"
#include "postproc/support/strings.h"

namespace jtrace {
namespace {

using namespace std::string_literals;
using postproc::StrCat;
using testing::RunPost;

constexpr int kTraces = 40;

// As a JVM returns names: modified UTF-8.
const std::vector<std::string>& Pieces() {
  static const std::vector<std::string> pieces = {"a",
                                                  "é",
                                                  "日",
                                                  "\x1b[2J",
                                                  "\n",
                                                  "\r",
                                                  "\t",
                                                  "\x7f",
                                                  "\u0085",
                                                  "\u009b31m",
                                                  "\u202E",
                                                  "\u2066",
                                                  ";",
                                                  "\\",
                                                  "\\n",
                                                  "\\x1b",
                                                  "\u2028",
                                                  "\xED\xA0\xBD",
                                                  "\xC0\x80",
                                                  "\"",
                                                  ",",
                                                  "=",
                                                  "#",
                                                  "\xED\xB8\x80",
                                                  "</script>",
                                                  "{{DATA}}",
                                                  " ",
                                                  "\xFF",
                                                  "\u200F",
                                                  "\uFEFF",
                                                  "\xED\xA0\xBD\xED\xB8\x80",
                                                  "@",
                                                  "'2",
                                                  "&"};
  return pieces;
}

enum class Names { kHostile, kPlain };

// Distinct names, in the order of their creation.
class NameMaker {
 public:
  NameMaker(Names names, uint32_t seed) : names_(names), random_(seed) {}
  std::string Next() {
    std::string name = StrCat("n", count_++);
    if (names_ == Names::kPlain) return name;
    for (auto pieces = 1 + random_() % 4; pieces > 0; --pieces) {
      name += Pieces()[random_() % Pieces().size()];
    }
    return name;
  }

 private:
  Names names_;
  std::minstd_rand random_;
  int count_ = 0;
};

// Threads with nodes and samples; the same except for the names.
std::string Trace(Names names, uint32_t seed) {
  NameMaker maker(names, seed);
  testing::TraceBuilder builder;
  proto::SessionStart& start = *builder.chunk().mutable_session_start();
  start.set_command(StrCat("Main ", maker.Next()));
  start.set_interval_ns(1'000'000);
  for (int t = 1; t <= 3; ++t) {
    const uint32_t thread = builder.Thread(maker.Next(), 100 + t, t);
    uint32_t parent = 0;
    for (int i = 1; i <= 4; ++i) {
      const uint32_t owner = builder.Class(StrCat("p.", maker.Next()));
      const std::string method = maker.Next();
      const std::string type = StrCat("(L", "p/T", i, ";)V");
      parent = builder.Node(thread, parent, builder.Routine(owner, method, type));
      builder.Count(thread, parent, static_cast<uint64_t>(10 * i + t));
      const uint32_t frame =
          builder.Frame(proto::Frame::COMPILED, builder.Method(owner, method, type));
      builder.Sample(static_cast<uint64_t>(1000 * t + i), thread, parent, {frame});
    }
    proto::Event& mark = builder.Event(5000, thread, format::kSession, format::kSessionMark);
    mark.set_text(builder.String(maker.Next()));
  }
  return builder.Finish();
}

testing::RunResult Post(const std::string& trace, std::vector<std::string> args) {
  args.emplace_back("t");
  testing::RunResult result = RunPost(args, {{"t", trace}});
  EXPECT_EQ(result.exit_code, 0) << args.front() << result.err;
  return result;
}

// Without the note about columns: longer names leave room for fewer.
ptrdiff_t Lines(std::string_view text) {
  const bool has_note = text.find("\nnot shown at this width: ") != std::string_view::npos;
  return std::count(text.begin(), text.end(), '\n') - has_note;
}

TEST(HostileNamesTest, TextForPeopleHasALineForEachAndNothingThatATerminalObeys) {
  for (int seed = 0; seed < kTraces; ++seed) {
    const std::string hostile = Trace(Names::kHostile, seed);
    const std::string plain = Trace(Names::kPlain, seed);
    for (const std::string report :
         {"summary", "tree", "flat", "arcflow", "functions", "paths", "samples", "threads",
          "bythread", "classes", "never", "graph", "findings"}) {
      for (const char* width : {"--width=0", "--width=40", "--width=120"}) {
        // Plain names of threads would be of one group.
        const std::vector<std::string> args = {"--report=" + report, width, "--aggregate=thread"};
        const std::string shown = Post(hostile, args).out;
        ASSERT_EQ(VisibleLines(shown), shown) << report;
        ASSERT_EQ(Lines(shown), Lines(Post(plain, args).out)) << report << width << "\n" << shown;
      }
    }
  }
}

TEST(HostileNamesTest, TheFirstScreenHasNothingThatATerminalObeys) {
  for (int seed = 0; seed < kTraces; ++seed) {
    for (const char* width : {"--width=0", "--width=40", "--width=120"}) {
      const std::string shown = Post(Trace(Names::kHostile, seed), {width}).out;
      ASSERT_EQ(VisibleLines(shown), shown);
    }
  }
}

// All names, with bytes that are not text.
std::string AllCsv(const std::string& trace) {
  std::string all;
  for (const char* report :
       {"tree", "flat", "arcflow", "samples", "threads", "bythread", "classes"}) {
    all += Post(trace, {StrCat("--report=", report), "--format=csv"}).out;
  }
  return all;
}

TEST(HostileNamesTest, DumpsAreReadBackEqual) {
  for (int seed = 0; seed < kTraces; ++seed) {
    const std::string trace = Trace(Names::kHostile, seed);
    const std::string dump = Post(trace, {"--report=dump"}).out;
    ASSERT_EQ(AllCsv(dump), AllCsv(trace)) << dump;
    ASSERT_EQ(Post(dump, {"--report=dump"}).out, dump);
    ASSERT_EQ(Post(dump, {"--report=summary"}).out, Post(trace, {"--report=summary"}).out);
    ASSERT_EQ(Lines(dump), Lines(Post(Trace(Names::kPlain, seed), {"--report=dump"}).out));
    for (std::string_view rest = dump; !rest.empty();) {
      const Character c = FirstCharacter(rest);
      const bool is_separator = c.code == '\t' || c.code == '\n';
      ASSERT_TRUE(!c.is_valid || is_separator || (!IsControl(c.code) && !IsSurrogate(c.code)))
          << static_cast<uint32_t>(c.code);
      rest.remove_prefix(c.bytes);
    }
  }
}

TEST(HostileNamesTest, CsvHasNamesAsUtf8) {
  testing::TraceBuilder builder;
  builder.Thread("\xED\xA0\xBD\xED\xB8\x80 a\xC0\x80", 1, 1);
  const uint32_t owner = builder.Class("p.\xED\xA0\xBD");
  const uint32_t thread = 1;
  builder.Count(thread, builder.Node(thread, 0, builder.Routine(owner, "f\x1b\u202E", "()V")), 1);
  const auto rows = testing::Rows(builder.Finish(), "tree", {"name"});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0][0], "😀 a\0"s);
  EXPECT_EQ(rows[1][0], "p.\xED\xA0\xBD.f\x1b\u202E()");
}

TEST(HostileNamesTest, ExportsFollowTheirFormats) {
  for (int seed = 0; seed < kTraces; ++seed) {
    const std::string hostile = Trace(Names::kHostile, seed);
    const std::string plain = Trace(Names::kPlain, seed);
    const auto both = [&](const std::string& report) {
      return std::pair(Post(hostile, {"--report=" + report}).out,
                       Post(plain, {"--report=" + report}).out);
    };
    for (const char* report : {"collapsed", "callgrind", "dot"}) {
      const auto [with, without] = both(report);
      ASSERT_EQ(Lines(with), Lines(without)) << report << "\n" << with;
    }
    const auto [with, without] = both("collapsed");
    const auto stacks = testing::ParseCollapsed(with);
    const auto plain_stacks = testing::ParseCollapsed(without);
    ASSERT_EQ(stacks.size(), plain_stacks.size());
    int64_t sum = 0;
    int64_t frames = 0;
    for (const auto& [stack, value] : stacks) {
      sum += value;
      frames += static_cast<int64_t>(stack.size());
    }
    for (const auto& [stack, value] : plain_stacks) {
      sum -= value;
      frames -= static_cast<int64_t>(stack.size());
    }
    ASSERT_EQ(sum, 0);
    ASSERT_EQ(frames, 0) << with;
    const auto speedscope = nlohmann::json::parse(Post(hostile, {"--report=speedscope"}).out);
    ASSERT_EQ(speedscope["shared"]["frames"].size(), 15U);
  }
}

TEST(HostileNamesTest, ThePageHoldsNamesOnlyAsData) {
  const std::string hostile = Post(Trace(Names::kHostile, 1), {"--report=html"}).out;
  const std::string plain = Post(Trace(Names::kPlain, 1), {"--report=html"}).out;
  // Only letters and digits in the middle differ.
  const auto first = std::mismatch(hostile.begin(), hostile.end(), plain.begin(), plain.end());
  const auto last = std::mismatch(hostile.rbegin(), hostile.rend(), plain.rbegin(), plain.rend());
  ASSERT_LT(first.first - hostile.begin(), hostile.rend() - last.first);
  for (auto it = first.first; it != last.first.base(); ++it) {
    ASSERT_TRUE(std::isalnum(static_cast<unsigned char>(*it)) != 0 || *it == '+' || *it == '/' ||
                *it == '=')
        << *it;
  }
}

TEST(HostileNamesTest, MessagesAreOneLine) {
  const testing::RunResult result = RunPost({"--root=a\nb\x1b[2J\u202E", "--report=tree", "t"},
                                            {{"t", Trace(Names::kHostile, 3)}});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_EQ(VisibleLines(result.err), result.err);
  EXPECT_EQ(Lines(result.err), 1);
}

}  // namespace
}  // namespace jtrace
