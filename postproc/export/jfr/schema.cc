#include "postproc/export/jfr/schema.h"

#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "postproc/export/jfr/bytes.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc::jfr {
namespace {

enum class Kind { kPlain, kSimple, kEvent, kAnnotation };

struct Type {
  TypeId id;
  std::string_view name;
  std::string_view label;
  Kind kind = Kind::kPlain;
};

constexpr Type kTypes[] = {
    {kBoolean, "boolean", ""},
    {kInt, "int", ""},
    {kLong, "long", ""},
    {kString, "java.lang.String", ""},
    {kClass, "java.lang.Class", "Java Class"},
    {kThread, "java.lang.Thread", "Thread"},
    {kThreadGroup, "jdk.types.ThreadGroup", "Thread Group"},
    {kClassLoader, "jdk.types.ClassLoader", "Java Class Loader"},
    {kPackage, "jdk.types.Package", "Package"},
    {kModule, "jdk.types.Module", "Module"},
    {kSymbol, "jdk.types.Symbol", "Symbol", Kind::kSimple},
    {kMethod, "jdk.types.Method", "Java Method"},
    {kFrameType, "jdk.types.FrameType", "Frame Type", Kind::kSimple},
    {kThreadState, "jdk.types.ThreadState", "Java Thread State", Kind::kSimple},
    {kStackFrame, "jdk.types.StackFrame", "Stack Frame"},
    {kStackTrace, "jdk.types.StackTrace", "Stacktrace"},
    {kLabel, "jdk.jfr.Label", "", Kind::kAnnotation},
    {kTimestamp, "jdk.jfr.Timestamp", "", Kind::kAnnotation},
    {kTimespan, "jdk.jfr.Timespan", "", Kind::kAnnotation},
    {kExecutionSample, "jdk.ExecutionSample", "Method Profiling Sample", Kind::kEvent},
    {kNativeMethodSample, "jdk.NativeMethodSample", "Method Profiling Sample Native", Kind::kEvent},
    {kThreadStart, "jdk.ThreadStart", "Java Thread Start", Kind::kEvent},
    {kThreadEnd, "jdk.ThreadEnd", "Java Thread End", Kind::kEvent},
    {kJvmInformation, "jdk.JVMInformation", "JVM Information", Kind::kEvent},
    {kActiveRecording, "jdk.ActiveRecording", "Flight Recording", Kind::kEvent},
    {kActiveSetting, "jdk.ActiveSetting", "Recording Setting", Kind::kEvent},
};

enum class Shape { kValue, kConstant, kArray };

struct Field {
  TypeId of;
  std::string_view name;
  std::string_view label;
  TypeId type;
  Shape shape = Shape::kValue;
  TypeId unit = kMetadata;     // kTimestamp or kTimespan
  std::string_view of_unit{};  // "TICKS"
};

// In the order in which values are written.
constexpr Field kFields[] = {
    {kClass, "classLoader", "Class Loader", kClassLoader, Shape::kConstant},
    {kClass, "name", "Name", kSymbol, Shape::kConstant},
    {kClass, "package", "Package", kPackage, Shape::kConstant},
    {kClass, "modifiers", "Access Modifiers", kInt},
    {kClass, "hidden", "Hidden", kBoolean},
    {kThread, "osName", "OS Thread Name", kString},
    {kThread, "osThreadId", "OS Thread Id", kLong},
    {kThread, "javaName", "Java Thread Name", kString},
    {kThread, "javaThreadId", "Java Thread Id", kLong},
    {kThread, "group", "Java Thread Group", kThreadGroup, Shape::kConstant},
    {kThread, "virtual", "Virtual Thread", kBoolean},
    {kThreadGroup, "parent", "Parent", kThreadGroup, Shape::kConstant},
    {kThreadGroup, "name", "Name", kString},
    {kClassLoader, "type", "Type", kClass, Shape::kConstant},
    {kClassLoader, "name", "Name", kSymbol, Shape::kConstant},
    {kPackage, "name", "Name", kSymbol, Shape::kConstant},
    {kPackage, "module", "Module", kModule, Shape::kConstant},
    {kPackage, "exported", "Exported", kBoolean},
    {kModule, "name", "Name", kSymbol, Shape::kConstant},
    {kModule, "version", "Version", kSymbol, Shape::kConstant},
    {kModule, "location", "Location", kSymbol, Shape::kConstant},
    {kModule, "classLoader", "Class Loader", kClassLoader, Shape::kConstant},
    {kSymbol, "string", "String", kString},
    {kMethod, "type", "Type", kClass, Shape::kConstant},
    {kMethod, "name", "Name", kSymbol, Shape::kConstant},
    {kMethod, "descriptor", "Descriptor", kSymbol, Shape::kConstant},
    {kMethod, "modifiers", "Access Modifiers", kInt},
    {kMethod, "hidden", "Hidden", kBoolean},
    {kFrameType, "description", "Description", kString},
    {kThreadState, "name", "Name", kString},
    {kStackFrame, "method", "Java Method", kMethod, Shape::kConstant},
    {kStackFrame, "lineNumber", "Line Number", kInt},
    {kStackFrame, "bytecodeIndex", "Bytecode Index", kInt},
    {kStackFrame, "type", "Frame Type", kFrameType, Shape::kConstant},
    {kStackTrace, "truncated", "Truncated", kBoolean},
    {kStackTrace, "frames", "Stack Frames", kStackFrame, Shape::kArray},
    {kLabel, "value", "", kString},
    {kTimestamp, "value", "", kString},
    {kTimespan, "value", "", kString},
    {kExecutionSample, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kExecutionSample, "sampledThread", "Thread", kThread, Shape::kConstant},
    {kExecutionSample, "stackTrace", "Stack Trace", kStackTrace, Shape::kConstant},
    {kExecutionSample, "state", "Thread State", kThreadState, Shape::kConstant},
    {kNativeMethodSample, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kNativeMethodSample, "sampledThread", "Thread", kThread, Shape::kConstant},
    {kNativeMethodSample, "stackTrace", "Stack Trace", kStackTrace, Shape::kConstant},
    {kNativeMethodSample, "state", "Thread State", kThreadState, Shape::kConstant},
    {kThreadStart, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kThreadStart, "eventThread", "Event Thread", kThread, Shape::kConstant},
    {kThreadStart, "thread", "New Java Thread", kThread, Shape::kConstant},
    {kThreadEnd, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kThreadEnd, "eventThread", "Event Thread", kThread, Shape::kConstant},
    {kThreadEnd, "thread", "Java Thread", kThread, Shape::kConstant},
    {kJvmInformation, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kJvmInformation, "jvmName", "JVM Name", kString},
    {kJvmInformation, "jvmVersion", "JVM Version", kString},
    {kJvmInformation, "jvmArguments", "JVM Command Line Arguments", kString},
    {kJvmInformation, "jvmFlags", "JVM Settings File Arguments", kString},
    {kJvmInformation, "javaArguments", "Java Application Arguments", kString},
    {kJvmInformation, "jvmStartTime", "JVM Start Time", kLong, Shape::kValue, kTimestamp,
     "MILLISECONDS_SINCE_EPOCH"},
    {kJvmInformation, "pid", "Process Identifier", kLong},
    {kActiveRecording, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kActiveRecording, "id", "Id", kLong},
    {kActiveRecording, "name", "Name", kString},
    {kActiveRecording, "recordingStart", "Start Time", kLong, Shape::kValue, kTimestamp,
     "MILLISECONDS_SINCE_EPOCH"},
    {kActiveRecording, "recordingDuration", "Recording Duration", kLong, Shape::kValue, kTimespan,
     "MILLISECONDS"},
    {kActiveSetting, "startTime", "Start Time", kLong, Shape::kValue, kTimestamp, "TICKS"},
    {kActiveSetting, "id", "Event Id", kLong},
    {kActiveSetting, "name", "Setting Name", kString},
    {kActiveSetting, "value", "Setting Value", kString},
};

// An element of the description, as of XML; texts are numbers of the event's own table.
struct Element {
  std::string_view name;
  std::vector<std::pair<std::string_view, std::string>> attributes;
  std::vector<Element> children;
};

std::string Text(TypeId id) { return StrCat(static_cast<uint32_t>(id)); }

Element Annotation(TypeId type, std::string_view value) {
  return {"annotation", {{"class", Text(type)}, {"value", std::string(value)}}, {}};
}

Element FieldElement(const Field& field) {
  Element element = {"field", {{"name", std::string(field.name)}, {"class", Text(field.type)}}, {}};
  if (field.shape == Shape::kConstant) element.attributes.emplace_back("constantPool", "true");
  if (field.shape == Shape::kArray) element.attributes.emplace_back("dimension", "1");
  if (!field.label.empty()) element.children.push_back(Annotation(kLabel, field.label));
  if (field.unit != kMetadata) element.children.push_back(Annotation(field.unit, field.of_unit));
  return element;
}

Element TypeElement(const Type& type) {
  Element element = {"class", {{"id", Text(type.id)}, {"name", std::string(type.name)}}, {}};
  if (type.kind == Kind::kSimple) element.attributes.emplace_back("simpleType", "true");
  if (type.kind == Kind::kEvent) element.attributes.emplace_back("superType", "jdk.jfr.Event");
  if (type.kind == Kind::kAnnotation) {
    element.attributes.emplace_back("superType", "java.lang.annotation.Annotation");
  }
  if (!type.label.empty()) element.children.push_back(Annotation(kLabel, type.label));
  for (const Field& field : kFields) {
    if (field.of == type.id) element.children.push_back(FieldElement(field));
  }
  return element;
}

class ElementWriter {
 public:
  void Write(const Element& element) {
    Number(element.name);
    AppendNumber(tree_, element.attributes.size());
    for (const auto& [key, value] : element.attributes) {
      Number(key);
      Number(value);
    }
    AppendNumber(tree_, element.children.size());
    for (const Element& child : element.children) Write(child);
  }

  void AppendTo(std::string& out) const {
    AppendNumber(out, texts_.size());
    for (const std::string& text : texts_) AppendText(out, text);
    out += tree_;
  }

 private:
  void Number(std::string_view text) {
    const auto [entry, inserted] = numbers_.try_emplace(text, texts_.size());
    if (inserted) texts_.emplace_back(text);
    AppendNumber(tree_, entry->second);
  }

  std::string tree_;
  StringMap<size_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace

std::string MetadataEvent(int64_t time) {
  Element types = {"metadata", {}, {}};
  for (const Type& type : kTypes) types.children.push_back(TypeElement(type));
  const Element region = {"region", {{"locale", "en_US"}, {"gmtOffset", "0"}}, {}};
  ElementWriter writer;
  writer.Write({"root", {}, {types, region}});
  std::string fields;
  for (const auto value : {uint64_t{kMetadata}, static_cast<uint64_t>(time), uint64_t{0},
                           uint64_t{1}}) {  // type, start, duration, number of the description
    AppendNumber(fields, value);
  }
  writer.AppendTo(fields);
  std::string event;
  AppendEvent(event, fields);
  return event;
}

}  // namespace jtrace::postproc::jfr
