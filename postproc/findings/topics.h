// Code of others that a rule knows by name, and what the program's methods spend in it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "postproc/findings/facts.h"

namespace jtrace::postproc {

struct Topic {
  // Of a routine: whole, or without parameters; with a * at its end all that begin so.
  std::string_view routine;
  std::string_view suggestion;
};

// What a method of the program spends below one topic.
struct TopicUse {
  RoutineId owner;   // the method; none: no method of the program is above it
  RoutineId callee;  // the outermost routine of the topic
  const Topic* topic = nullptr;
  int64_t time = 0;
  int64_t calls = 0;           // of the callee, where calls out of scope are counted (boundary=on)
  NodeId heaviest = NodeId();  // the owner's node with the most of it
};

// Whose time it is.
enum class TopicOwner : uint8_t {
  kNearest,      // the nearest method of the program
  kConstructed,  // the same, but not a constructor: what makes the object
};

// By time, then by calls, most first. One pass over the tree: below a node of a topic all belongs
// to it, up to the next method of the program.
std::vector<TopicUse> UsesOf(const Facts& facts, absl::Span<const Topic> topics, TopicOwner whose);

}  // namespace jtrace::postproc
