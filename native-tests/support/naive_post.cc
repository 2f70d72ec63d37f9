#include "native-tests/support/naive_post.h"

#include <algorithm>
#include <set>
#include <sstream>

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

// A function's name in reports: without its prefix, with its module.
std::string Shown(std::string frame) {
  if (HasPrefix(frame)) frame = frame.substr(2);
  for (size_t at; (at = frame.find("> >")) != std::string::npos;) frame.replace(at, 3, ">>");
  return frame;
}

bool IsApp(const std::string& frame) {
  return !HasPrefix(frame) || std::string("JCI").find(frame[0]) != std::string::npos;
}

}  // namespace

NaivePost::NaivePost(std::string_view trace, NaiveMerge merge, bool app_scope)
    : merge_(merge), app_scope_(app_scope) {
  std::istringstream lines{std::string(trace)};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') Line(SplitLine(line));
  }
  // Activations that are still open count with their time so far.
  for (auto& [name, thread] : threads_) {
    thread.Charge(*thread.open.back().node, &thread.open.back());
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

void NaivePost::Thread::Pass(int64_t time) {
  (off ? passed_off : passed_on) += time - clock;
  clock = time;
}

void NaivePost::Thread::Charge(NaiveNode& node, Activation* activation) {
  node.base += passed_on;
  node.off += passed_off;
  if (activation != nullptr) activation->base += passed_on;
  passed_on = passed_off = 0;
}

void NaivePost::Advance(Thread& thread, int64_t time) {
  thread.Pass(time);
  thread.Charge(*thread.open.back().node, &thread.open.back());
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
  // The state of a sampled thread changes no tree.
  if (op.starts_with("sample")) op = op.substr(0, op.find('.'));
  if (op == "on" || op == "off") {
    thread.Pass(time);
    thread.off = op == "off";
  } else if (op == "session-loss") {
    NaiveNode* dropped = Child(thread.open.back().node, "[dropped]");
    dropped->event = true;
    thread.Pass(time);
    thread.Charge(*dropped, nullptr);
  } else if (op.starts_with("enter") || op.starts_with("exit") || op == "position") {
    Advance(thread, time);
    if (op == "position") return Position(thread, {fields.begin() + 3, fields.end()});
    if (op.starts_with("exit")) return Exit(thread, Bare(fields[3]));
    NaiveNode* node = Open(thread, Bare(fields[3]));
    ++node->calls;
    if (op == "enter.j") ++node->jitted;
  } else if (op == "metric") {
    thread.open.back().node->metrics[fields[3]] += std::stoll(fields[4]);
  } else if (op == "node") {
    Node(thread, fields);
  } else if (op == "place") {
    // Of lines, which no report of this class has.
  } else if (op == "hook") {
    Hook(thread, fields);
  } else {
    SampleOf(thread, op, weight, fields);
  }
}

NaiveNode* NaivePost::Open(Thread& thread, const std::string& name) {
  NaiveNode* node = Child(thread.open.back().node, name);
  node->event = true;
  thread.open.push_back({node, 0});
  return node;
}

void NaivePost::CloseTo(Thread& thread, size_t size) {
  while (thread.open.size() > size) {
    thread.open.back().node->extremes.push_back(thread.open.back().base);
    thread.open.pop_back();
  }
}

void NaivePost::Exit(Thread& thread, const std::string& name) {
  size_t innermost = thread.open.size();
  while (--innermost > 0 && thread.open[innermost].node->name != name) {
  }
  if (innermost != 0) CloseTo(thread, innermost);
}

void NaivePost::Position(Thread& thread, const std::vector<std::string>& path) {
  size_t keep = 1;
  while (keep < thread.open.size() && keep <= path.size() &&
         thread.open[keep].node->name == Bare(path[keep - 1])) {
    ++keep;
  }
  CloseTo(thread, keep);
  for (; keep <= path.size(); ++keep) Open(thread, Bare(path[keep - 1]));
}

void NaivePost::Node(Thread& thread, const std::vector<std::string>& fields) {
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
    if (key.find('.') != std::string::npos) node->metrics[key] += value;
  }
}

void NaivePost::Hook(Thread& thread, const std::vector<std::string>& fields) {
  std::map<std::string, int64_t> counts;
  std::istringstream pairs(fields[6]);
  for (std::string pair; std::getline(pairs, pair, ',');) {
    counts[pair.substr(0, pair.find('='))] = std::stoll(pair.substr(pair.find('=') + 1));
  }
  std::vector<std::string> names(fields.begin() + 7, fields.end());
  size_t jumped = 0;
  while (jumped < names.size() &&
         names[names.size() - 1 - jumped].find("[tail call]!") != std::string::npos)
    ++jumped;
  const size_t levels = names.size() - jumped;
  const std::string java = levels == 0 ? "" : Bare(names[levels - 1]);
  names.push_back(fields[3]);
  std::vector<NaiveNode*> path;
  EventPath(thread, names, path)->calls += counts["calls"];
  const int kind = fields[4] == "count" ? 0 : fields[4] == "unwind" ? 1 : 2;
  hooks_[{Shown(fields[3]), kind}][{fields[1], java, Shown(fields[5])}].push_back(counts);
}

void NaivePost::SampleOf(Thread& thread, const std::string& op, int64_t weight,
                         const std::vector<std::string>& fields) {
  std::vector<NaiveNode*> open;
  size_t first_frame = 3;
  if (op == "sample-at") {
    first_frame = 4 + std::stoul(fields[3]);
    EventPath(thread, {fields.begin() + 4, fields.begin() + static_cast<long>(first_frame)}, open);
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

}  // namespace jtrace::testing
