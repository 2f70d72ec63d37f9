#include "agent/calls/trees/node_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "native-tests/agent/calls/trees/probe_double.h"

namespace jtrace::calls {
namespace {

using ::jtrace::testing::ProbeDouble;
using ::jtrace::testing::TestArena;

// Gives a node its children as JTraceSlots.java does.
class Slots {
 public:
  Slots(signal_safe::Arena* arena, signal_safe::Node& node) : arena_(arena), node_(node) {}

  void Add(signal_safe::Ref child) {
    if (used_ * 4 >= Words() * 3) Grow();
    signal_safe::WriteRelease(FirstFree(blocks_.back(), Words(), RoutineOf(child)),
                              AddressOf(child));
    ++used_;
  }

 private:
  using Block = std::vector<uint64_t>;

  // So that the reader sees the state between two stores.
  static void Stand() {
    for (int i = 0; i < 200; ++i) std::this_thread::yield();
  }
  size_t Words() const { return blocks_.empty() ? 0 : blocks_.back().size(); }
  uint64_t AddressOf(signal_safe::Ref child) const {
    return reinterpret_cast<uintptr_t>(signal_safe::At<signal_safe::Node>(arena_, child));
  }
  uint32_t RoutineOf(signal_safe::Ref child) const {
    return signal_safe::At<signal_safe::Node>(arena_, child)->routine;
  }
  uint64_t Free() const { return reinterpret_cast<uintptr_t>(&arena_->sink_node); }
  uint64_t& FirstFree(Block& block, size_t words, uint32_t routine) const {
    size_t at = routine % words;
    while (block[at] != Free()) at = (at + 1) % words;
    return block[at];
  }

  void Grow() {
    const size_t words = std::max<size_t>(8, Words() * 2);
    Block grown(words, Free());
    for (size_t i = 0; i < Words(); ++i) {
      const uint64_t child = blocks_.back()[i];
      if (child == Free()) continue;
      FirstFree(grown, words, reinterpret_cast<signal_safe::Node*>(child)->routine) = child;
    }
    blocks_.push_back(std::move(grown));
    const auto moves = static_cast<uint16_t>(node_.mask | signal_safe::kMaskMoves);
    signal_safe::WriteRelease(node_.mask, moves);
    signal_safe::WriteRelease(
        node_.slots, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(blocks_.back().data())));
    Stand();
    signal_safe::WriteRelease(node_.mask, static_cast<uint16_t>((words - 1) * sizeof(uint64_t)));
    // The outgrown slots become a link.
    if (blocks_.size() > 1) {
      signal_safe::WriteRelaxed(blocks_[blocks_.size() - 2][0], words / 2 - 2);
    }
  }

  signal_safe::Arena* arena_;
  signal_safe::Node& node_;
  std::deque<Block> blocks_;
  size_t used_ = 0;
};

// Spread over all slots, so that many are elsewhere when there are more.
uint32_t RoutineOf(uint32_t child) { return 2 + child * 37; }

// A reader follows a log, whose records are later than the children that they name.
TEST(FindChildTest, ChildrenAreFoundWhileSlotsGrow) {
  constexpr uint32_t kChildren = 3000;
  constexpr int kRounds = 20;
  for (int round = 0; round < kRounds; ++round) {
    TestArena arena;
    ProbeDouble thread(arena.get(), 1);
    const uint64_t root = thread.Enter(1);
    auto* parent = signal_safe::At<signal_safe::Node>(arena.get(), thread.current_ref());
    std::vector<signal_safe::Ref> children;
    for (uint32_t i = 0; i < kChildren; ++i) {
      children.push_back(thread.NewNode(*parent, RoutineOf(i)));
    }
    std::atomic<uint32_t> added = 0;
    std::thread owner([&] {
      Slots slots(arena.get(), *parent);
      for (const signal_safe::Ref child : children) {
        slots.Add(child);
        added.fetch_add(1, std::memory_order_release);
      }
      while (added.load() != 0) std::this_thread::yield();  // the reader is done with the slots
    });
    uint32_t missed = 0;
    for (uint32_t known = 0, at = 0; known < kChildren; at += 7) {
      known = added.load(std::memory_order_acquire);
      if (known == 0) continue;
      const uint32_t i = at % 2 == 0 ? known - 1 : at % known;
      missed += FindChild(arena.get(), *parent, RoutineOf(i)) != children[i];
    }
    EXPECT_EQ(FindChild(arena.get(), *parent, RoutineOf(kChildren)), 0u);
    added = 0;
    owner.join();
    EXPECT_EQ(missed, 0u);
    thread.Exit(root);
  }
}

}  // namespace
}  // namespace jtrace::calls
