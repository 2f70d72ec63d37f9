// The position of a reader of a thread's log: the node that it has reached, record by record.
#pragma once

#include <cstdint>

#include "agent/hot/layout.h"
#include "agent/probes/find_child.h"

namespace jtrace {

// The thread itself has moved on meanwhile, as far as its ring reaches. Follows records as readers
// of the trace do, in the thread's tree, which has a node for every call before it has a record. On
// the writer thread; the tree may grow at the same time.
class LogReaderPosition {
 public:
  LogReaderPosition(const hot::Arena* arena, hot::Ref at) : arena_(arena), at_(at) {}

  hot::Ref at() const { return at_; }
  // Whether it is at a node of the tree. A reader whose records do not fit the tree is at
  // Arena::lost_node, which has no children, until it gets a position.
  bool is_known() const { return at_ != Lost(); }
  void MoveTo(hot::Ref node) { at_ = node; }
  void Enter(uint32_t routine) {
    const hot::Node& node = *hot::At<hot::Node>(arena_, at_);
    const hot::Ref child = FindChild(arena_, node, routine);
    at_ = child != 0 ? child : Lost();
  }
  void Exit(uint32_t routine) {
    const hot::Node& node = *hot::At<hot::Node>(arena_, at_);
    at_ = node.routine == routine ? node.parent : Caller(routine);
  }

 private:
  hot::Ref Lost() const { return hot::RefOf(arena_, &arena_->lost_node); }
  // The caller of the routine's innermost open activation; if there is none the exit means nothing.
  hot::Ref Caller(uint32_t routine) const;

  const hot::Arena* arena_;
  hot::Ref at_;
};

}  // namespace jtrace
