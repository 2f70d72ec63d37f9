#include "postproc/export/jfr/constants.h"

#include <algorithm>
#include <iterator>

#include "postproc/export/jfr/bytes.h"
#include "postproc/export/jfr/schema.h"

namespace jtrace::postproc::jfr {
namespace {

// Entries of a pool in one event: readers hold an event in memory, and its size has 31 bits.
constexpr size_t kPoolBytes = 1 << 24;

constexpr uint64_t kNativeModifier = 0x100;  // JVMS 4.6

// By SampleState. Flight Recorder has no names for the last two; a sample with unknown state ran
// or waited.
constexpr std::string_view kStates[] = {
    "STATE_RUNNABLE",       "STATE_UNKNOWN", "STATE_BLOCKED_ON_MONITOR_ENTER",
    "STATE_IN_OBJECT_WAIT", "STATE_PARKED",  "STATE_SLEEPING",
    "STATE_WAITING",        "STATE_BLOCKED"};
static_assert(std::size(kStates) == kSampleStates);

enum FrameType : uint64_t { kInterpreted = 1, kCompiled, kInlined, kNative, kVm, kKernel, kOther };
constexpr std::string_view kFrameTypes[] = {"Interpreted", "JIT compiled", "Inlined", "Native",
                                            "C++",         "Kernel",       "Unknown"};

FrameType TypeOf(Origin origin) {
  switch (origin) {
    case Origin::kInterpreted:
      return kInterpreted;
    case Origin::kCompiled:
      return kCompiled;
    case Origin::kInlined:
      return kInlined;
    case Origin::kNative:
      return kNative;
    case Origin::kVm:
      return kVm;
    case Origin::kKernel:
      return kKernel;
    case Origin::kNone:
      return kOther;
  }
  return kOther;
}

// The format's names of classes have slashes.
std::string WithSlashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '.', '/');
  return text;
}

std::string DescriptorOfType(std::string_view type) {
  std::string dimensions;
  while (ConsumeSuffix(type, "[]")) dimensions.push_back('[');
  constexpr std::pair<std::string_view, char> kPrimitives[] = {
      {"boolean", 'Z'}, {"byte", 'B'}, {"char", 'C'},  {"short", 'S'},
      {"int", 'I'},     {"long", 'J'}, {"float", 'F'}, {"double", 'D'}};
  for (const auto& [name, letter] : kPrimitives) {
    if (type == name) return dimensions + letter;
  }
  return StrCat(dimensions, "L", WithSlashes(type), ";");
}

// The parts of a routine's name as the format has them.
struct MethodName {
  std::string type;
  std::string_view name;
  std::string descriptor;
};

// "[kernel]" is "kernel": readers of descriptors take a bracket as that of an array, and JDK
// Mission Control fails.
std::string ModuleType(std::string_view module) {
  if (ConsumePrefix(module, "[")) ConsumeSuffix(module, "]");
  return std::string(module);
}

MethodName JavaName(std::string_view name) {
  const std::string_view plain = WithoutParameters(name);
  const size_t dot = plain.rfind('.');
  const bool has_type = dot != std::string_view::npos;
  std::string_view parameters = name.substr(plain.size());
  ConsumePrefix(parameters, "(");
  ConsumeSuffix(parameters, ")");
  return {has_type ? WithSlashes(plain.substr(0, dot)) : std::string(),
          has_type ? plain.substr(dot + 1) : plain, DescriptorOf(parameters)};
}

}  // namespace

std::string DescriptorOf(std::string_view parameters) {
  std::string descriptor = "(";
  while (!parameters.empty()) {
    const size_t comma = std::min(parameters.find(','), parameters.size());
    descriptor += DescriptorOfType(parameters.substr(0, comma));
    parameters.remove_prefix(std::min(comma + 1, parameters.size()));
  }
  return descriptor + ")V";
}

uint32_t Constants::StackOf(const SampleRecord& sample) {
  if (sample.frames.empty()) return 0;
  const StackId stack = table_.Intern(sample.frames, sample.places);
  CallSite innermost = kNoCallSite;
  if (sample.places.size() == sample.frames.size()) innermost = sample.places.back();
  if (innermost == kNoCallSite && sample.bci) innermost = CallSiteOfBci(*sample.bci);
  const auto [entry, inserted] =
      numbers_.try_emplace({stack.value, innermost}, static_cast<uint32_t>(stacks_.size() + 1));
  if (inserted) stacks_.push_back({stack, innermost});
  return entry->second;
}

uint64_t Constants::Symbol(std::string_view text) {
  const auto [entry, inserted] = symbols_.try_emplace(text, symbol_texts_.size() + 1);
  if (inserted) symbol_texts_.emplace_back(text);
  return entry->second;
}

uint64_t Constants::Class(std::string_view name) {
  if (name.empty()) return 0;
  const uint64_t symbol = Symbol(name);
  const auto [entry, inserted] = classes_.try_emplace(symbol, class_names_.size() + 1);
  if (inserted) class_names_.push_back(symbol);
  return entry->second;
}

uint64_t Constants::Method(const Frame& frame) {
  const auto [entry, inserted] = method_numbers_.try_emplace(
      std::pair(frame.routine.value, frame.module.value), methods_.size() + 1);
  if (inserted) methods_.push_back(frame);
  return entry->second;
}

void Constants::Stacks(PoolSink sink) {
  std::string entries;
  uint64_t count = 0;
  for (size_t i = 0; i < stacks_.size(); ++i) {
    AppendNumber(entries, i + 1);
    entries.push_back(0);  // not truncated
    size_t depth = 0;
    for (StackId id = stacks_[i].stack; id; id = table_.Caller(id)) ++depth;
    AppendNumber(entries, depth);
    CallSite place = stacks_[i].innermost;
    for (StackId id = stacks_[i].stack; id; id = table_.Caller(id)) {
      const Frame& frame = model_.frame(table_.Innermost(id));
      AppendNumber(entries, Method(frame));
      AppendNumber(entries, IsLine(place) ? NumberInCallSite(place) : 0);
      AppendNumber(entries, IsLine(place) ? 0 : NumberInCallSite(place));
      AppendNumber(entries, TypeOf(frame.origin));
      place = table_.Place(id);
    }
    ++count;
    if (entries.size() < kPoolBytes && i + 1 < stacks_.size()) continue;
    sink(kStackTrace, count, entries);
    entries.clear();
    count = 0;
  }
}

void Constants::Methods(PoolSink sink) {
  std::string entries;
  for (size_t i = 0; i < methods_.size(); ++i) {
    const Frame& frame = methods_[i];
    const std::string_view text = model_.RoutineName(frame.routine);
    const bool is_java = IsJava(frame.origin);
    const MethodName name =
        is_java ? JavaName(text)
                : MethodName{ModuleType(model_.ModuleOf(frame)), WithoutParameters(text), "()V"};
    AppendNumber(entries, i + 1);
    AppendNumber(entries, Class(name.type));
    AppendNumber(entries, Symbol(name.name));
    AppendNumber(entries, Symbol(name.descriptor));
    AppendNumber(entries, is_java ? 0 : kNativeModifier);
    entries.push_back(0);  // not hidden
  }
  if (!methods_.empty()) sink(kMethod, methods_.size(), entries);
}

void Constants::Threads(PoolSink sink) const {
  std::string entries;
  for (uint32_t i = 1; i <= model_.thread_count(); ++i) {
    const ThreadInfo& thread = model_.thread(ThreadId(i));
    AppendNumber(entries, i);
    AppendText(entries, thread.name);
    AppendNumber(entries, thread.is_virtual ? 0 : static_cast<uint64_t>(thread.tid));
    // As Flight Recorder: then readers take the system's name.
    thread.is_vm_internal ? AppendNoText(entries) : AppendText(entries, thread.name);
    AppendNumber(entries, static_cast<uint64_t>(thread.java_tid));
    AppendNumber(entries, 0);  // no group
    entries.push_back(thread.is_virtual ? 1 : 0);
  }
  if (model_.thread_count() != 0) sink(kThread, model_.thread_count(), entries);
}

// Each pool adds to those after it.
void Constants::ForEachPool(PoolSink sink) {
  const auto texts = [&](uint32_t type, auto begin, auto end) {
    std::string entries;
    uint64_t number = 0;
    for (; begin != end; ++begin) {
      AppendNumber(entries, ++number);
      AppendText(entries, *begin);
    }
    if (number != 0) sink(type, number, entries);
  };
  Stacks(sink);
  Methods(sink);
  std::string entries;
  for (size_t i = 0; i < class_names_.size(); ++i) {
    AppendNumber(entries, i + 1);
    AppendNumber(entries, 0);  // no loader
    AppendNumber(entries, class_names_[i]);
    entries.append(3, 0);  // no package, no modifiers, not hidden
  }
  if (!class_names_.empty()) sink(kClass, class_names_.size(), entries);
  Threads(sink);
  texts(kSymbol, symbol_texts_.begin(), symbol_texts_.end());
  texts(kFrameType, std::begin(kFrameTypes), std::end(kFrameTypes));
  texts(kThreadState, std::begin(kStates), std::end(kStates));
}

uint64_t Constants::Write(int64_t time, uint64_t begin,
                          absl::FunctionRef<void(std::string_view)> append) {
  uint64_t last = begin;
  uint64_t at = begin;
  ForEachPool([&](uint32_t type, uint64_t count, std::string_view entries) {
    std::string fields;
    AppendNumber(fields, kCheckpoint);
    AppendNumber(fields, static_cast<uint64_t>(time));
    AppendNumber(fields, 0);          // duration
    AppendNumber(fields, last - at);  // to the event before; 0: there is none
    fields.push_back(0);              // complete
    AppendNumber(fields, 1);          // pools
    AppendNumber(fields, type);
    AppendNumber(fields, count);
    fields += entries;
    std::string event;
    AppendEvent(event, fields);
    append(event);
    last = at;
    at += event.size();
  });
  return last;
}

}  // namespace jtrace::postproc::jfr
