// Notified by TreeCollector of trees and nodes that are about to be removed. On the writer thread.
#pragma once

#include "agent/hot/layout.h"

namespace jtrace {

class TreeWatcher {
 public:
  virtual ~TreeWatcher() = default;
  // The thread has ended, all is counted, and its memory will be reused.
  virtual void OnThreadGone(const hot::ThreadState& state) = 0;
  // The thread continues, but the node was cut off its tree and counts nothing any more.
  virtual void OnNodeGone(const hot::ThreadState& state, const hot::Node& node) = 0;
};

}  // namespace jtrace
