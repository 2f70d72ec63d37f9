// A second, naive implementation of the reports, written only from FORMATS: the oracle for
// jtrace-post. Slow, simple, without any of its code.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "native-tests/support/csv.h"

namespace jtrace::testing {

// --merge=
enum class NaiveMerge { kChain, kEmbed, kNone };

// A node of the call tree.
struct NaiveNode {
  std::string name;
  NaiveNode* parent = nullptr;  // null: a thread's root
  bool apart = false;           // of a separate tree of samples
  bool event = false;
  int64_t calls = 0;
  int64_t jitted = 0;
  int64_t base = 0;
  int64_t off = 0;
  int64_t ticks = 0;
  int64_t samples = 0;
  std::map<std::string, int64_t> metrics;
  std::vector<int64_t> extremes;  // base times of single activations
  std::vector<std::unique_ptr<NaiveNode>> children;

  int64_t Cum() const;
  int64_t Elapsed() const;
  int64_t CumTicks() const;
  int64_t Metric(const std::string& metric) const;  // callees not included; 0 of ""
  int64_t CumMetric(const std::string& metric) const;
  int RecursionLevel() const;
  std::string Origin() const;
};

class NaivePost {
 public:
  NaivePost(std::string_view trace, NaiveMerge merge, bool app_scope);

  // Rows with the leading columns that FORMATS §4 fixes (and calls_jitted, min_base, max_base).
  // With --metric, its columns follow these; it is first in the order.
  std::vector<CsvRow> Tree(const std::string& metric = "") const;
  std::vector<CsvRow> Flat(const std::string& metric = "") const;
  std::vector<CsvRow> ArcFlow(const std::string& metric = "") const;
  std::vector<CsvRow> Paths() const;
  // The same columns with --metric: of the tree's nodes, over all threads. With `of`, the paths
  // that begin at the outermost node of that name (and their shares of only these).
  std::vector<CsvRow> MetricPaths(const std::string& metric, const std::string& of = "") const;
  // path, inclusive, exclusive: by the path down to each node's innermost `of`.
  std::vector<CsvRow> MetricCallers(const std::string& metric, const std::string& of) const;
  // hook,kind,thread,java,native,calls,timed,total_ns,min_ns,max_ns
  std::vector<CsvRow> Hooks() const;
  // Σ over all nodes.
  int64_t Total(const std::string& metric) const;

 private:
  struct Activation {
    NaiveNode* node = nullptr;
    int64_t base = 0;
  };
  struct Thread {
    std::unique_ptr<NaiveNode> root;
    std::vector<Activation> open;  // open[0] is the root
    int64_t clock = 0;
    bool off = false;
    int64_t passed_on = 0;  // since the last event, which decides whose time it was
    int64_t passed_off = 0;

    void Pass(int64_t time);
    void Charge(NaiveNode& node, Activation* activation);
  };
  struct Sample {
    std::vector<std::string> frames;
    int64_t weight = 0;
  };
  using HookName = std::pair<std::string, int>;   // and its kind, in the kinds' order
  using HookCaller = std::array<std::string, 3>;  // thread, java, native
  using HookCounts = std::vector<std::map<std::string, int64_t>>;  // the rows' keys

  void Line(const std::vector<std::string>& fields);
  static NaiveNode* Open(Thread& thread, const std::string& name);
  static void CloseTo(Thread& thread, size_t size);
  static void Exit(Thread& thread, const std::string& name);
  static void Position(Thread& thread, const std::vector<std::string>& path);
  static void Node(Thread& thread, const std::vector<std::string>& fields);
  void Hook(Thread& thread, const std::vector<std::string>& fields);
  void SampleOf(Thread& thread, const std::string& op, int64_t weight,
                const std::vector<std::string>& fields);
  Thread& ThreadOf(const std::string& name, int64_t time);
  static void Advance(Thread& thread, int64_t time);
  static NaiveNode* Child(NaiveNode* parent, const std::string& name, bool apart = false);
  static NaiveNode* EventPath(Thread& thread, const std::vector<std::string>& names,
                              std::vector<NaiveNode*>& path);
  void Merge(Thread& thread, const std::vector<NaiveNode*>& open,
             const std::vector<std::string>& frames, int64_t weight, bool unwind);

  const NaiveMerge merge_;
  const bool app_scope_;
  std::map<std::string, Thread> threads_;
  std::vector<std::string> thread_order_;
  std::vector<Sample> samples_;
  std::map<HookName, std::map<HookCaller, HookCounts>> hooks_;
};

}  // namespace jtrace::testing
