#include "native-tests/support/naive_post.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <set>
#include <sstream>
#include <tuple>

namespace jtrace::testing {
namespace {

std::vector<std::string> SplitLine(const std::string& line) {
  std::vector<std::string> fields(1);
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\t') {
      fields.emplace_back();
    } else if (line[i] == '\\' && i + 1 < line.size() &&
               std::string("tn\\").find(line[i + 1]) != std::string::npos) {
      ++i;
      fields.back() += line[i] == 't' ? '\t' : line[i] == 'n' ? '\n' : '\\';
    } else {
      fields.back() += line[i];
    }
  }
  return fields;
}

bool HasPrefix(const std::string& frame) {
  return frame.size() >= 2 && frame[1] == ':' &&
         std::string("JCINVK").find(frame[0]) != std::string::npos &&
         (frame.size() == 2 || frame[2] != ':');
}

// Names compare without prefix and module, and with ">>" for "> >".
std::string Bare(std::string frame) {
  if (HasPrefix(frame)) {
    const bool native = frame[0] == 'N' || frame[0] == 'V' || frame[0] == 'K';
    frame = frame.substr(2);
    const size_t mark = frame.find('!');
    if (native && mark != std::string::npos) frame = frame.substr(mark + 1);
  }
  for (size_t at; (at = frame.find("> >")) != std::string::npos;) frame.replace(at, 3, ">>");
  return frame;
}

bool IsApp(const std::string& frame) {
  return !HasPrefix(frame) || std::string("JCI").find(frame[0]) != std::string::npos;
}

std::string Percent(int64_t part, int64_t whole) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string Num(int64_t value) { return std::to_string(value); }

// Recursion: a root is never the same routine as a method.
using Routine = std::pair<bool, std::string>;  // is a root; name
Routine RoutineOf(const NaiveNode& node) { return {node.parent == nullptr, node.name}; }

using Visit = std::function<void(const NaiveNode&, int level)>;
void Walk(const NaiveNode& node, int level, const Visit& visit) {
  visit(node, level);
  std::vector<const NaiveNode*> sorted;
  for (const auto& child : node.children) sorted.push_back(child.get());
  std::stable_sort(sorted.begin(), sorted.end(), [](const NaiveNode* a, const NaiveNode* b) {
    if (a->Cum() != b->Cum()) return a->Cum() > b->Cum();
    if (a->CumTicks() != b->CumTicks()) return a->CumTicks() > b->CumTicks();
    if (a->calls != b->calls) return a->calls > b->calls;
    return a->name < b->name;
  });
  for (const NaiveNode* child : sorted) Walk(*child, level + 1, visit);
}

int64_t Least(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
}
int64_t Greatest(const std::vector<int64_t>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

}  // namespace

int64_t NaiveNode::Cum() const {
  int64_t sum = base;
  for (const auto& child : children) sum += child->Cum();
  return sum;
}
int64_t NaiveNode::Elapsed() const {
  int64_t sum = base + off;
  for (const auto& child : children) sum += child->Elapsed();
  return sum;
}
int64_t NaiveNode::CumTicks() const {
  int64_t sum = ticks;
  for (const auto& child : children) sum += child->CumTicks();
  return sum;
}
int NaiveNode::RecursionLevel() const {
  int level = 1;
  for (const NaiveNode* at = parent; at != nullptr; at = at->parent) {
    level += RoutineOf(*at) == RoutineOf(*this);
  }
  return level;
}
std::string NaiveNode::Origin() const {
  return parent == nullptr ? "thread" : event ? "event" : "sample";
}

NaivePost::NaivePost(std::string_view trace, NaiveMerge merge, bool app_scope)
    : merge_(merge), app_scope_(app_scope) {
  std::istringstream lines{std::string(trace)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') Line(SplitLine(line));
  }
  // Activations still open count as they are.
  for (auto& [name, thread] : threads_) {
    for (const Activation& open : thread.open) open.node->extremes.push_back(open.base);
  }
}

NaivePost::Thread& NaivePost::ThreadOf(const std::string& name, int64_t time) {
  auto [entry, inserted] = threads_.try_emplace(name);
  Thread& thread = entry->second;
  if (!inserted) return thread;
  thread_order_.push_back(name);
  thread.root = std::make_unique<NaiveNode>();
  thread.root->name = name;
  thread.root->calls = 1;
  thread.open.push_back({thread.root.get(), 0});
  thread.clock = time;
  return thread;
}

void NaivePost::Advance(Thread& thread, int64_t time) {
  const int64_t passed = time - thread.clock;
  thread.clock = time;
  Activation& current = thread.open.back();
  if (thread.off) {
    current.node->off += passed;
  } else {
    current.node->base += passed;
    current.base += passed;
  }
}

NaiveNode* NaivePost::Child(NaiveNode* parent, const std::string& name, bool apart) {
  for (const auto& child : parent->children) {
    if (child->name == name && child->apart == apart) return child.get();
  }
  auto child = std::make_unique<NaiveNode>();
  child->name = name;
  child->parent = parent;
  child->apart = apart;
  parent->children.push_back(std::move(child));
  return parent->children.back().get();
}

NaiveNode* NaivePost::EventPath(Thread& thread, const std::vector<std::string>& names,
                                std::vector<NaiveNode*>& path) {
  NaiveNode* at = thread.root.get();
  for (const std::string& name : names) {
    at = Child(at, Bare(name));
    at->event = true;
    path.push_back(at);
  }
  return at;
}

void NaivePost::Line(const std::vector<std::string>& fields) {
  const int64_t time = std::stoll(fields[0]);
  std::string op = fields[2];
  Thread& thread = ThreadOf(fields[1], time);
  int64_t weight = 1;
  if (const size_t star = op.find('*'); star != std::string::npos) {
    weight = std::stoll(op.substr(star + 1));
    op = op.substr(0, star);
  }
  if (op == "on" || op == "off") {
    Advance(thread, time);
    thread.off = op == "off";
  } else if (op.starts_with("enter")) {
    Advance(thread, time);
    NaiveNode* node = Child(thread.open.back().node, Bare(fields[3]));
    node->event = true;
    ++node->calls;
    if (op == "enter.j") ++node->jitted;
    thread.open.push_back({node, 0});
  } else if (op.starts_with("exit")) {
    Advance(thread, time);
    size_t innermost = thread.open.size();
    while (--innermost > 0 && thread.open[innermost].node->name != Bare(fields[3])) {
    }
    if (innermost == 0) return;
    while (thread.open.size() > innermost) {
      thread.open.back().node->extremes.push_back(thread.open.back().base);
      thread.open.pop_back();
    }
  } else if (op == "position") {
    Advance(thread, time);
    const std::vector<std::string> path(fields.begin() + 3, fields.end());
    size_t keep = 1;
    while (keep < thread.open.size() && keep <= path.size() &&
           thread.open[keep].node->name == Bare(path[keep - 1])) {
      ++keep;
    }
    while (thread.open.size() > keep) {
      thread.open.back().node->extremes.push_back(thread.open.back().base);
      thread.open.pop_back();
    }
    for (; keep <= path.size(); ++keep) {
      NaiveNode* node = Child(thread.open.back().node, Bare(path[keep - 1]));
      node->event = true;
      thread.open.push_back({node, 0});
    }
  } else if (op == "session-loss") {
    NaiveNode* dropped = Child(thread.open.back().node, "[dropped]");
    dropped->event = true;
    (thread.off ? dropped->off : dropped->base) += time - thread.clock;
    thread.clock = time;
  } else if (op == "node") {
    std::vector<NaiveNode*> path;
    NaiveNode* node = EventPath(thread, {fields.begin() + 4, fields.end()}, path);
    std::istringstream pairs(fields[3]);
    for (std::string pair; std::getline(pairs, pair, ',');) {
      const std::string key = pair.substr(0, pair.find('='));
      const int64_t value = std::stoll(pair.substr(pair.find('=') + 1));
      if (key == "calls") node->calls += value;
      if (key == "calls_jitted") node->jitted += value;
      if (key == "base") node->base += value;
      if (key == "off") node->off += value;
      if (key == "min" || key == "max") node->extremes.push_back(value);
    }
  } else {
    std::vector<NaiveNode*> open;
    size_t first_frame = 3;
    if (op == "sample-at") {
      first_frame = 4 + std::stoul(fields[3]);
      EventPath(thread, {fields.begin() + 4, fields.begin() + static_cast<long>(first_frame)},
                open);
    } else {
      for (size_t i = 1; i < thread.open.size(); ++i) open.push_back(thread.open[i].node);
    }
    std::vector<std::string> frames;
    for (size_t i = first_frame; i < fields.size(); ++i) {
      if (!app_scope_ || IsApp(fields[i])) frames.push_back(Bare(fields[i]));
    }
    Merge(thread, open, frames, weight, op == "unwind");
    if (op != "unwind") samples_.push_back({frames, weight});
  }
}

void NaivePost::Merge(Thread& thread, const std::vector<NaiveNode*>& open,
                      const std::vector<std::string>& frames, int64_t weight, bool unwind) {
  NaiveNode* current = open.empty() ? thread.root.get() : open.back();
  std::set<NaiveNode*> pending_nodes;
  const auto chain = [&](NaiveNode* at, size_t from, size_t to, bool apart) {
    for (size_t i = from; i < to; ++i) {
      at = Child(at, frames[i], apart && i == from);
      pending_nodes.insert(at);
    }
    return at;
  };
  NaiveNode* ticked = nullptr;
  if (frames.empty()) {
    ticked = Child(current, "[no_frames]");
  } else if (merge_ == NaiveMerge::kEmbed) {
    ticked = chain(Child(current, unwind ? "stack_0x41" : "stack_0x40"), 0, frames.size(), false);
  } else if (merge_ == NaiveMerge::kNone) {
    ticked = chain(thread.root.get(), 0, frames.size(), true);
  } else {
    std::vector<NaiveNode*> left = open;
    size_t pending_end = frames.size();
    bool matched = false;
    for (size_t i = frames.size(); i-- > 0;) {
      size_t at = left.size();
      while (at > 0 && left[at - 1]->name != frames[i]) --at;
      if (at == 0) continue;
      NaiveNode* last = chain(left[at - 1], i + 1, pending_end, false);
      if (ticked == nullptr) ticked = last;
      left.resize(at - 1);
      pending_end = i;
      matched = true;
    }
    NaiveNode* below = thread.root.get();
    if (!matched && !open.empty()) below = Child(below, "[unmatched]");
    NaiveNode* last = chain(below, 0, pending_end, false);
    if (ticked == nullptr) ticked = last;
  }
  for (NaiveNode* node : pending_nodes) ++node->samples;
  if (!unwind) ticked->ticks += weight;
}

std::vector<CsvRow> NaivePost::Tree() const {
  std::vector<CsvRow> rows;
  for (const std::string& name : thread_order_) {
    Walk(*threads_.at(name).root, 0, [&](const NaiveNode& node, int level) {
      rows.push_back({name, Num(level), Num(node.RecursionLevel()), Num(node.calls), Num(node.base),
                      Num(node.Cum()), Num(node.Elapsed()), Num(node.ticks), Num(node.CumTicks()),
                      Num(node.samples), node.Origin(), node.name, Num(node.jitted),
                      Num(Least(node.extremes)), Num(Greatest(node.extremes))});
    });
  }
  return rows;
}

namespace {

struct Sums {
  int64_t calls = 0, jitted = 0, base = 0, cum = 0, cum2 = 0, elapsed = 0;
  int64_t ticks = 0, cum_ticks = 0, cum2_ticks = 0, samples = 0;
  std::vector<int64_t> extremes;
};

// cum, cum_ticks and calls descending, then name.
template <typename Key>
std::vector<std::pair<Key, Sums>> Sorted(const std::map<Key, Sums>& sums,
                                         const std::function<std::string(const Key&)>& name) {
  std::vector<std::pair<Key, Sums>> sorted(sums.begin(), sums.end());
  std::stable_sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
    if (a.second.cum != b.second.cum) return a.second.cum > b.second.cum;
    if (a.second.cum_ticks != b.second.cum_ticks) return a.second.cum_ticks > b.second.cum_ticks;
    if (a.second.calls != b.second.calls) return a.second.calls > b.second.calls;
    return name(a.first) < name(b.first);
  });
  return sorted;
}

}  // namespace

namespace {

using RoutineSums = std::map<Routine, Sums>;

void AddFlat(const NaiveNode& root, RoutineSums& sums) {
  Walk(root, 0, [&](const NaiveNode& node, int) {
    Sums& row = sums[RoutineOf(node)];
    row.calls += node.calls;
    row.jitted += node.jitted;
    row.base += node.base;
    row.cum2 += node.Cum();
    row.ticks += node.ticks;
    row.cum2_ticks += node.CumTicks();
    row.samples += node.samples;
    row.extremes.insert(row.extremes.end(), node.extremes.begin(), node.extremes.end());
    if (node.RecursionLevel() > 1) return;
    row.cum += node.Cum();
    row.elapsed += node.Elapsed();
    row.cum_ticks += node.CumTicks();
  });
}

std::string NameOf(const Routine& routine) { return routine.second; }

}  // namespace

std::vector<CsvRow> NaivePost::Flat() const {
  RoutineSums sums;
  for (const auto& [name, thread] : threads_) AddFlat(*thread.root, sums);
  std::vector<CsvRow> rows;
  for (const auto& [routine, row] : Sorted<Routine>(sums, NameOf)) {
    rows.push_back({Num(row.calls), Num(row.base), Num(row.cum), Num(row.cum2), Num(row.elapsed),
                    Num(row.ticks), Num(row.cum_ticks), Num(row.cum2_ticks), Num(row.samples),
                    routine.second, Num(row.jitted), Num(Least(row.extremes)),
                    Num(Greatest(row.extremes))});
  }
  return rows;
}

std::vector<CsvRow> NaivePost::ArcFlow() const {
  RoutineSums flat;
  for (const auto& [name, thread] : threads_) AddFlat(*thread.root, flat);
  std::vector<CsvRow> rows;
  for (const auto& [self, total] : Sorted<Routine>(flat, NameOf)) {
    std::map<std::string, std::map<Routine, Sums>> arcs;  // by row kind
    const auto add = [](Sums& sums, const NaiveNode& node) {
      sums.calls += node.calls;
      sums.base += node.base;
      sums.cum += node.Cum();
      sums.ticks += node.ticks;
      sums.cum_ticks += node.CumTicks();
    };
    for (const auto& [name, thread] : threads_) {
      Walk(*thread.root, 0, [&](const NaiveNode& node, int) {
        if (RoutineOf(node) != self) return;
        const bool recursive = node.RecursionLevel() > 1;
        if (node.parent != nullptr) {
          add(arcs[recursive ? "rparent" : "parent"][RoutineOf(*node.parent)], node);
        }
        for (const auto& child : node.children) {
          add(arcs[recursive ? "rchild" : "child"][RoutineOf(*child)], *child);
        }
      });
    }
    for (const std::string kind : {"parent", "rparent", "self", "child", "rchild"}) {
      if (kind == "self") {
        rows.push_back({self.second, kind, Num(total.calls), Num(total.base), Num(total.cum),
                        Num(total.cum2), Num(total.ticks), Num(total.cum_ticks),
                        Num(total.cum2_ticks), self.second});
        continue;
      }
      for (const auto& [other, sums] : Sorted<Routine>(arcs[kind], NameOf)) {
        rows.push_back({self.second, kind, Num(sums.calls), Num(sums.base), Num(sums.cum), "",
                        Num(sums.ticks), Num(sums.cum_ticks), "", other.second});
      }
    }
  }
  return rows;
}

std::vector<CsvRow> NaivePost::Paths() const {
  std::map<std::vector<std::string>, std::pair<int64_t, int64_t>> counts;  // inclusive, exclusive
  int64_t whole = 0;
  for (const Sample& sample : samples_) {
    std::vector<std::string> frames = sample.frames;
    if (frames.empty()) frames.emplace_back("[no_frames]");
    whole += sample.weight;
    counts[frames].second += sample.weight;
    for (; !frames.empty(); frames.pop_back()) counts[frames].first += sample.weight;
  }
  std::vector<CsvRow> rows;
  const std::function<void(const std::vector<std::string>&)> below =
      [&](const std::vector<std::string>& prefix) {
        std::vector<std::vector<std::string>> children;
        for (const auto& [path, count] : counts) {
          if (path.size() == prefix.size() + 1 &&
              std::equal(prefix.begin(), prefix.end(), path.begin())) {
            children.push_back(path);
          }
        }
        std::stable_sort(children.begin(), children.end(), [&](const auto& a, const auto& b) {
          if (counts[a].first != counts[b].first) return counts[a].first > counts[b].first;
          return a.back() < b.back();
        });
        for (const auto& path : children) {
          std::string text;
          for (const std::string& name : path) text += (text.empty() ? "" : " > ") + name;
          const auto [inclusive, exclusive] = counts[path];
          rows.push_back({text, Num(inclusive), Percent(inclusive, whole), Num(exclusive),
                          Percent(exclusive, whole)});
          below(path);
        }
      };
  below({});
  return rows;
}

}  // namespace jtrace::testing
