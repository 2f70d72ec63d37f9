// A text trace for the tests of findings: exact calls, samples and records of one program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "native-tests/support/run_post.h"

namespace jtrace::testing {

class FindingTrace {
 public:
  using Path = std::vector<std::string>;

  // A tick is a millisecond, as the trace's unit is.
  FindingTrace() : text_("# jtrace-text 1 unit=ms\n#@\tsession\tinterval_ns\t1000000\n") {}

  // Calls that the agent counted, at their path.
  FindingTrace& Calls(const Path& path, int64_t calls, int64_t jitted = 0) {
    const std::string counts =
        "calls=" + std::to_string(calls) + ",calls_jitted=" + std::to_string(jitted);
    return Record("main\tnode\t" + counts + Joined(path));
  }
  // A sample at a counted path, with further frames below it, such as "C:java.lang.A.a()".
  FindingTrace& Ticks(const Path& path, const Path& below, int64_t ticks) {
    Path frames;
    for (const std::string& routine : path) frames.push_back("J:" + routine);
    return Record("main\tsample-at*" + std::to_string(ticks) + "\t" + std::to_string(path.size()) +
                  Joined(path) + Joined(frames) + Joined(below));
  }
  // Any record after its time: "main\twaited-monitor\t…".
  FindingTrace& Record(std::string_view record) {
    text_ += std::to_string(time_) + "\t" + std::string(record) + "\n";
    return *this;
  }
  // What the trace says about itself: "routine\tthrown\t\t[thrown] A".
  FindingTrace& Meta(std::string_view line) {
    text_ += "#@\t" + std::string(line) + "\n";
    return *this;
  }
  FindingTrace& At(int64_t time) {
    time_ = time;
    return *this;
  }

  const std::string& text() const { return text_; }
  // Of a rule: what it found, and its share.
  std::vector<CsvRow> Of(const std::string& rule) const {
    std::vector<CsvRow> found;
    for (const CsvRow& row : Rows(text_, "findings", {"rule", "share", "of", "finding", "needs"})) {
      if (row[0] == rule && row[4].empty()) found.push_back({row[1], row[2], row[3]});
    }
    return found;
  }
  bool IsNotRecorded(const std::string& rule) const {
    for (const CsvRow& row : Rows(text_, "findings", {"rule", "needs"})) {
      if (row[0] == rule && !row[1].empty()) return true;
    }
    return false;
  }

 private:
  static std::string Joined(const Path& path) {
    std::string joined;
    for (const std::string& routine : path) joined += "\t" + routine;
    return joined;
  }

  std::string text_;
  int64_t time_ = 0;
};

}  // namespace jtrace::testing
