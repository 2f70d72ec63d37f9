// --report=dot as Graphviz reads it: `dot -Tplain` prints nodes and edges in lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/visible_text.h"
#include "native-tests/support/random_trace.h"
#include "native-tests/support/run_post.h"

namespace jtrace {
namespace {

using testing::CsvRow;
using ::testing::HasSubstr;
using ::testing::Not;

// Graphviz's output for a document.
struct Drawing {
  bool understood = false;
  std::string complaints;
  std::map<std::string, std::string> names;  // by node, its label's first line
  // By the names and the place of the caller, which is the label's first line if it is known: the
  // rest of the label.
  std::map<std::array<std::string, 3>, std::string> arcs;
};

// The fields of a line of -Tplain; quoted ones without their quotes.
std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  size_t i = 0;
  while (i < line.size()) {
    std::string field;
    if (line[i] == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\' && line[i + 1] == '"') ++i;
        field += line[i];
        if (line[i] == '\\') field += line[++i];
      }
      ++i;
    } else {
      while (i < line.size() && line[i] != ' ') field += line[i++];
    }
    fields.push_back(field);
    while (i < line.size() && line[i] == ' ') ++i;
  }
  return fields;
}

// A label's lines joined by '\n', its escapes resolved.
std::string Unescape(const std::string& label) {
  std::string text;
  for (size_t i = 0; i < label.size(); ++i) {
    if (label[i] != '\\') {
      text += label[i];
    } else {
      ++i;
      text += label[i] == 'n' ? '\n' : label[i];
    }
  }
  return text;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

// ":120\n5 calls" → ":120" and "5 calls".
std::pair<std::string, std::string> SplitPlace(const std::string& label) {
  if (!label.starts_with(":") && !label.starts_with("@")) return {"", label};
  const std::string place = FirstLine(label);
  return {place, place.size() < label.size() ? label.substr(place.size() + 1) : ""};
}

Drawing Draw(const std::string& document) {
  const std::string file = ::testing::TempDir() + "/" +
                           ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".dot";
  std::ofstream(file, std::ios::binary) << document;
  Drawing drawing;
  std::string plain;
  const std::string command = "dot -Tplain '" + file + "' 2>'" + file + ".err'";
  FILE* const pipe = popen(command.c_str(), "r");  // NOLINT: the test's own name
  if (pipe == nullptr) return drawing;
  std::array<char, 4096> buffer{};
  for (size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    plain.append(buffer.data(), size);
  }
  drawing.understood = pclose(pipe) == 0;
  std::ifstream errors(file + ".err");
  std::getline(errors, drawing.complaints, '\0');
  std::istringstream lines(plain);
  for (std::string line; std::getline(lines, line);) {
    // A long line ends in a backslash and continues.
    while (line.ends_with("\\")) {
      std::string more;
      std::getline(lines, more);
      line = line.substr(0, line.size() - 1) + more;
    }
    const std::vector<std::string> fields = Fields(line);
    if (fields[0] == "node") drawing.names[fields[1]] = FirstLine(Unescape(fields[6]));
    if (fields[0] == "edge") {
      const size_t label = 4 + 2 * std::stoul(fields[3]);
      const auto [place, text] = SplitPlace(Unescape(fields[label]));
      drawing.arcs[{drawing.names[fields[1]], drawing.names[fields[2]], place}] = text;
    }
  }
  return drawing;
}

std::string Dot(const std::string& trace, std::vector<std::string> args = {}) {
  args.insert(args.begin(), "--report=dot");
  args.emplace_back("trace");
  const testing::RunResult result = testing::RunPost(args, {{"trace", trace}});
  return result.exit_code == 0 ? result.out : result.err;
}

// Thousands separators, as labels have them.
std::string Grouped(const std::string& number) {
  std::string text = number;
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return text;
}

void ExpectTheGraph(const std::string& trace, const std::vector<std::string>& args) {
  const Drawing drawing = Draw(Dot(trace, args));
  ASSERT_TRUE(drawing.understood) << drawing.complaints;
  ASSERT_EQ(drawing.complaints, "");
  std::vector<std::string> graph_args = args;
  graph_args.insert(graph_args.begin(), "--report=graph");
  const testing::Csv graph = testing::ParseCsv(testing::ReportCsv(trace, graph_args));
  const std::vector<CsvRow> rows =
      graph.Project({"caller", "callee", "calls", "share", "unit", "site"});
  ASSERT_EQ(drawing.arcs.size(), rows.size());
  for (const CsvRow& row : rows) {
    const bool placed = !row[5].empty() && row[5] != "<none>";
    const std::string place = placed ? row[5].substr(row[0].size()) : "";
    const auto arc = drawing.arcs.find({VisibleText(row[0]), VisibleText(row[1]), place});
    ASSERT_NE(arc, drawing.arcs.end()) << row[0] << " > " << row[1];
    if (row[2] != "0") {
      EXPECT_THAT(arc->second, ::testing::StartsWith(Grouped(row[2]) + " call"));
    }
    if (row[4] == "calls") continue;
    EXPECT_NEAR(std::stod(arc->second.substr(arc->second.rfind('\n') + 1)), std::stod(row[3]),
                0.06);
  }
}

TEST(DotExportTest, GraphvizReadsTheGraph) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    ExpectTheGraph(testing::RandomTextTrace(seed), {});
    ExpectTheGraph(testing::RandomTextTrace(seed), {"--filter=30", "--widths=linear"});
    ExpectTheGraph(testing::RandomBinaryTrace(seed), {});
  }
}

// Characters of a name that have a meaning in the language, in its labels or for a terminal.
const std::vector<std::string>& HostileNames() {
  static const std::vector<std::string> names = {R"(say "no")",
                                                 R"(back\\slash\\)",
                                                 R"(\\N \\G \\l \\r)",
                                                 "&amp; &lt; &#955;",
                                                 "<b>bold</b>",
                                                 "];n0->n1",
                                                 "{a|b}",
                                                 "--",
                                                 "// comment",
                                                 "% # \xe2\x82\xac",
                                                 "<html>",
                                                 "a -> b;"};
  return names;
}

TEST(DotExportTest, HostileNamesAreNames) {
  std::string trace = "# jtrace-text 1 unit=ms\n";
  std::vector<std::string> expected = {"[all threads]"};
  for (const std::string& name : HostileNames()) {
    trace += "0\tt\tnode\tcalls=1,base=7\tmain\t" + name + "\n";
    expected.push_back(Unescape(name));  // text traces have the same escapes
  }
  expected.emplace_back("main");
  const Drawing drawing = Draw(Dot(trace));
  ASSERT_TRUE(drawing.understood) << drawing.complaints;
  EXPECT_EQ(drawing.complaints, "");
  std::vector<std::string> names;
  for (const auto& [node, name] : drawing.names) names.push_back(name);
  EXPECT_THAT(names, ::testing::UnorderedElementsAreArray(expected));
}

TEST(DotExportTest, BytesThatAreNotTextAreShown) {
  const std::string trace =
      "# jtrace-text 1 unit=ms\n"
      "0\tt\tnode\tcalls=1,base=7\tbad\xff\xc3utf\n"
      "0\tt\tnode\tcalls=1,base=7\ttwo\\nlines\\tand\x1b[31m\n"
      "0\tt\tnode\tcalls=1,base=7\tcut\xe2\x82\n";
  const Drawing drawing = Draw(Dot(trace));
  ASSERT_TRUE(drawing.understood) << drawing.complaints;
  EXPECT_EQ(drawing.complaints, "");
  EXPECT_EQ(drawing.names.size(), 4u);
  EXPECT_THAT(Dot(trace), Not(HasSubstr("\x1b")));
}

TEST(DotExportTest, LongNamesAreShortAndWholeInTheTooltip) {
  const std::string name = "com.example." + std::string(300, 'x') + ".run(int,String)";
  const std::string document =
      Dot("# jtrace-text 1 unit=ms\n0\tt\tnode\tcalls=1,base=7\t" + name + "\n");
  EXPECT_THAT(document, HasSubstr("tooltip=\"" + name + "\""));
  EXPECT_THAT(document, Not(HasSubstr("label=\"" + name)));
  EXPECT_TRUE(Draw(document).understood);
}

// Samples differ from events, kinds of frames by colour, widths by formula.
TEST(DotExportTest, ShowsOriginKindAndWidth) {
  const std::string document =
      Dot("# jtrace-text 1 unit=ms\n"
          "0\tt\tenter\ta.B.run()\n"
          "1\tt\tsample*3\tJ:a.B.run()\tN:libc.so.6!read\tK:vfs_read\n"
          "2\tt\tsample\tJ:a.B.run()\tV:libjvm.so!gc\n",
          {"--widths=linear"});
  const auto line_of = [&](const std::string& text) {
    const size_t at = document.find("[label=\"" + text);
    EXPECT_NE(at, std::string::npos) << text;
    const size_t end = document.find('\n', at);
    return document.substr(at, end - at);
  };
  EXPECT_THAT(line_of("a.B.run()"), Not(HasSubstr("dashed")));
  const std::string native = line_of("read");
  const std::string kernel = line_of("vfs_read");
  const std::string vm = line_of("gc");
  for (const std::string& sampled : {native, kernel, vm}) {
    EXPECT_THAT(sampled, HasSubstr("filled,rounded,dashed"));
  }
  const auto fill = [](const std::string& line) {
    const size_t at = line.find("fillcolor=");
    return line.substr(at, line.find(',', at) - at);
  };
  EXPECT_NE(fill(native), fill(kernel));
  EXPECT_NE(fill(native), fill(vm));
  EXPECT_NE(fill(kernel), fill(vm));
  EXPECT_NE(fill(native), fill(line_of("a.B.run()")));
  EXPECT_THAT(document, HasSubstr("penwidth=10.00"));
  EXPECT_THAT(document, HasSubstr("75.0 % (3)\", penwidth=8.00"));
  EXPECT_THAT(document, HasSubstr("25.0 % (1)\", penwidth=3.00"));
}

}  // namespace
}  // namespace jtrace
