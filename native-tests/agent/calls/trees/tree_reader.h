// Reads tree updates as a reader of the trace does: it trusts only them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "agent/calls/trees/tree_collector.h"

namespace jtrace::testing {

// The knowledge of such a reader.
struct TreeReader {
  struct Place {
    std::string path;
    uint64_t calls = 0, jitted = 0, base = 0;
    calls::MetricValues metrics = {};
  };
  std::map<uint32_t, Place> nodes;
  std::map<uint64_t, int> ends;
  std::set<uint32_t> pruned;
  std::map<std::pair<uint64_t, uint32_t>, calls::MetricValues> roots;  // by thread and group

  void Read(const calls::TreeUpdate& update) {
    for (const calls::NodeUpdate& node : update.nodes) {
      EXPECT_EQ(node.is_new, !nodes.contains(node.node)) << node.node;
      EXPECT_FALSE(pruned.contains(node.node)) << "numbers are not used again";
      if (node.is_new) {
        EXPECT_TRUE(node.parent == 0 || nodes.contains(node.parent)) << "child before parent";
        nodes[node.node].path = nodes[node.parent].path + "/" + std::to_string(node.routine);
      }
      Place& place = nodes[node.node];
      if (node.pruned) {
        EXPECT_EQ(node.calls, 0u);
        place.calls = place.jitted = place.base = 0;
        place.metrics = {};
        pruned.insert(node.node);
        continue;
      }
      EXPECT_GE(node.calls, place.calls);
      EXPECT_LE(node.jitted, node.calls);
      EXPECT_GE(node.values.base, place.base);
      place.base = node.values.base;
      place.metrics = node.values.metrics;
      place.calls = node.calls;
      place.jitted = node.jitted;
    }
    roots[{update.java_tid, update.group}] = update.root.metrics;
    ends[update.java_tid] += update.ended;
  }
  // Of the metric at that place, over all nodes and roots.
  uint64_t Metric(size_t place) const {
    uint64_t sum = 0;
    for (const auto& [number, node] : nodes) sum += node.metrics[place];
    for (const auto& [thread, root] : roots) sum += root[place];
    return sum;
  }
  // Adds the file's counts of each routine. A [pruned] node counts nothing itself.
  void AddByRoutine(std::map<uint32_t, uint64_t>& calls) const {
    for (const auto& [number, place] : nodes) {
      if (place.calls == 0) continue;
      calls[static_cast<uint32_t>(std::stoul(place.path.substr(place.path.rfind('/') + 1)))] +=
          place.calls;
    }
  }
  std::map<std::string, uint64_t> Calls() const {
    std::map<std::string, uint64_t> calls;
    for (const auto& [number, place] : nodes) {
      if (number != 0) calls[place.path] += place.calls;
    }
    return calls;
  }
};

}  // namespace jtrace::testing
