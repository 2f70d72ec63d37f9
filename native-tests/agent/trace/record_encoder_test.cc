#include "agent/trace/record_encoder.h"

#include <map>
#include <new>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace jtrace::trace {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::Pair;

// A reader's data of one file: definitions never change.
struct File {
  void Read(const proto::Chunk& chunk) {
    uint32_t number = chunk.first_string();
    for (const std::string& text : chunk.string()) {
      EXPECT_TRUE(strings.emplace(number++, text).second) << text;
    }
    for (const proto::ClassDef& it : chunk.class_def()) {
      EXPECT_TRUE(
          classes.emplace(it.id(), absl::StrCat(it.loader(), " ", strings[it.name()])).second);
    }
    for (const auto& it : chunk.routine()) EXPECT_TRUE(routines.emplace(it.id(), Name(it)).second);
    for (const auto& it : chunk.method()) EXPECT_TRUE(methods.emplace(it.id(), Name(it)).second);
    for (const proto::Thread& it : chunk.thread()) threads[it.id()] = strings[it.name()];
    for (const proto::Event& it : chunk.event()) events.push_back(strings[it.text()]);
  }
  template <typename Member>
  std::string Name(const Member& member) {
    return absl::StrCat(classes[member.class_id()], ".", strings[member.name()],
                        strings[member.descriptor()]);
  }

  std::map<uint32_t, std::string> strings = {{0, ""}};
  std::map<uint32_t, std::string> classes, routines, methods, threads;
  std::vector<std::string> events;
};

class RecordEncoderTest : public ::testing::Test {
 protected:
  // The next file, with records that name all of the routines and methods 1 … 10.
  File NextFile() {
    encoder_.BeginFile();
    return Definitions();
  }
  File Definitions() {
    for (uint32_t number = 1; number <= 10; ++number) {
      encoder_.DefineRoutines({number});
      encoder_.DefineMethod(number);
    }
    return Taken();
  }
  // The chunk's definitions; strings are those of the whole file.
  File Taken() {
    const proto::Chunk chunk = encoder_.Take();
    if (chunk.first_string() == 1) strings_.clear();
    File file;
    file.strings.insert(strings_.begin(), strings_.end());
    file.Read(chunk);
    strings_ = file.strings;
    return file;
  }
  uint32_t Load(int number, uint32_t loader) {
    const uint32_t id = encoder_.ClassNumber(absl::StrCat("Made", number), loader);
    encoder_.RoutineNumber(id, "run", absl::StrCat("(LMade", number, ";)V"));
    encoder_.MethodNumber(id, "run", absl::StrCat("(LMade", number, ";)V"));
    return id;
  }

  RecordEncoder encoder_{{}};
  std::map<uint32_t, std::string> strings_;
};

TEST_F(RecordEncoderTest, NextFileDefinesEverythingAgain) {
  const uint32_t id = Load(1, 2);
  encoder_.DefineThread({.name = "main"});
  const File first = Definitions();
  EXPECT_THAT(first.classes, ElementsAre(Pair(id, "2 Made1")));
  const File second = NextFile();
  EXPECT_EQ(second.classes, first.classes);
  EXPECT_EQ(second.routines, first.routines);
  EXPECT_EQ(second.methods, first.methods);
  EXPECT_THAT(second.threads, ElementsAre(Pair(1, "main")));
}

TEST_F(RecordEncoderTest, EachFileDefinesTheLabelsThatItsSamplesName) {
  const Labels labels = {{"kind", "query"}, {"tenant", "acme"}};
  const auto defined = [this] {
    const proto::Chunk chunk = encoder_.Take();
    std::string text;
    for (const proto::LabelSet& set : chunk.label_set()) {
      absl::StrAppend(&text, set.id(), ":");
      for (int i = 0; i < set.key_size(); ++i) {
        absl::StrAppend(&text, " ", set.key(i), "=", set.value(i));
      }
    }
    return text;
  };
  encoder_.DefineLabels(5, labels);
  encoder_.DefineLabels(5, labels);
  EXPECT_EQ(defined(), "5: 1=2 3=4");
  encoder_.DefineLabels(5, labels);
  EXPECT_EQ(defined(), "");
  encoder_.BeginFile();
  EXPECT_EQ(defined(), "");
  encoder_.DefineLabels(5, labels);
  EXPECT_EQ(defined(), "5: 1=2 3=4");
}

TEST_F(RecordEncoderTest, AFileDefinesWhatItsRecordsName) {
  Load(1, 2);
  const uint32_t prepared = Load(2, 2);
  EXPECT_THAT(Taken().classes, IsEmpty());
  encoder_.DefineRoutines({1});
  const File called = Taken();
  EXPECT_THAT(called.routines, ElementsAre(Pair(1, "2 Made1.run(LMade1;)V")));
  EXPECT_THAT(called.methods, IsEmpty());
  encoder_.DefineRoutines({1});
  proto::ClassEvent event;
  event.set_class_id(prepared);
  encoder_.AddClassEvent({.major = format::kClass}, event);
  const File named = Taken();
  EXPECT_THAT(named.classes, ElementsAre(Pair(prepared, "2 Made2")));
  EXPECT_THAT(named.routines, IsEmpty());
  // A method in samples is in scope if it has probes.
  encoder_.DefineMethod(2);
  EXPECT_THAT(Taken().routines, ElementsAre(Pair(2, EndsWith(".run(LMade2;)V"))));
}

// Records that come between the last chunk of a file and the first one of the next.
TEST_F(RecordEncoderTest, PendingRecordsAreDefinedInTheNextFile) {
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("+each-alloc").ok());
  encoder_.SetCodes(codes);
  const uint32_t prepared = Load(1, 2);
  Load(2, 2);
  Load(3, 2);
  proto::ClassEvent loaded;
  loaded.set_class_id(prepared);
  encoder_.AddClassEvent({.major = format::kClass}, loaded);
  proto::CodeEvent compiled;
  compiled.set_method(2);
  encoder_.AddCodeEvent({.major = format::kJit, .minor = format::kJitCode}, compiled);
  proto::AllocationEvent requested;
  requested.set_routine(3);
  encoder_.AddAllocationEvent({.major = format::kAllocation, .minor = format::kEachAllocation},
                              requested);
  encoder_.BeginFile();
  const proto::Chunk chunk = encoder_.Take();
  EXPECT_EQ(chunk.event_size(), 3);
  File file;
  file.Read(chunk);
  EXPECT_THAT(file.classes, Contains(Pair(prepared, "2 Made1")));
  EXPECT_THAT(file.methods, Contains(Pair(2, EndsWith(".run(LMade2;)V"))));
  EXPECT_THAT(file.routines, Contains(Pair(3, EndsWith(".run(LMade3;)V"))));
}

TEST_F(RecordEncoderTest, MethodsOfAClassCanBeDefinedWithoutARecord) {
  const uint32_t wanted = Load(1, 2);
  const uint32_t other = Load(2, 2);
  encoder_.RoutineNumber({.class_id = wanted, .name = "callee", .kind = proto::Routine::CALL});
  encoder_.RoutineNumber(wanted, "idle", "()V");
  encoder_.DefineRoutines({1});
  EXPECT_THAT(Taken().routines, ElementsAre(Pair(1, "2 Made1.run(LMade1;)V")));
  encoder_.DefineRoutinesOf({wanted});
  EXPECT_THAT(Taken().routines, ElementsAre(Pair(4, EndsWith(".idle()V"))));
  encoder_.DefineRoutinesOf({wanted, other});
  EXPECT_THAT(Taken().routines, ElementsAre(Pair(2, "2 Made2.run(LMade2;)V")));
}

TEST_F(RecordEncoderTest, UnloadedClassesAreForgottenWithTheirMembersAndNames) {
  const uint32_t gone = Load(1, 2), of_loader = Load(2, 3), stays = Load(3, 4);
  Taken();
  const auto forgotten = encoder_.Forget({gone}, {3});
  ASSERT_EQ(forgotten.size(), 2u);
  for (const ForgottenClass& it : forgotten) {
    EXPECT_EQ(it.name, it.id == gone ? "Made1" : "Made2");
    EXPECT_EQ(it.loader, it.id == of_loader ? 3u : 2u);
  }
  const File next = NextFile();
  EXPECT_THAT(next.classes, ElementsAre(Pair(stays, "4 Made3")));
  EXPECT_THAT(next.routines, ElementsAre(Pair(3, "4 Made3.run(LMade3;)V")));
  EXPECT_THAT(next.methods, ElementsAre(Pair(3, "4 Made3.run(LMade3;)V")));
  EXPECT_EQ(next.strings.size(), 4u);  // "", the class, the name, the descriptor
}

TEST_F(RecordEncoderTest, NumbersOfForgottenClassesAreNotReused) {
  const uint32_t gone = Load(1, 2);
  Taken();
  encoder_.Forget({gone}, {});
  EXPECT_NE(Load(1, 2), gone);
  const File same_file = Taken();
  EXPECT_THAT(same_file.strings, testing::Contains(Pair(testing::_, "Made1")));
  encoder_.DefineRoutines({1, 2});
  EXPECT_THAT(Taken().routines, ElementsAre(Pair(2, "2 Made1.run(LMade1;)V")));
  EXPECT_EQ(encoder_.routines(), 2u);
  EXPECT_EQ(encoder_.MethodIdsOf(gone, "run", "(LMade1;)V").routine, 0u);
}

TEST_F(RecordEncoderTest, ClassesNamedByForeignCodeAreKept) {
  const uint32_t named = encoder_.ClassNumber("Callee", 5);
  encoder_.RoutineNumber({.class_id = named, .name = "call", .kind = proto::Routine::CALL},
                         /*is_foreign=*/true);
  EXPECT_THAT(encoder_.Forget({named}, {5}), IsEmpty());
  EXPECT_THAT(NextFile().routines, ElementsAre(Pair(1, "5 Callee.call")));
}

TEST_F(RecordEncoderTest, PendingEventsKeepTheirTexts) {
  const uint32_t gone = Load(1, 2);
  Taken();
  encoder_.Forget({gone}, {});
  encoder_.AddEvent({.major = format::kSession, .minor = 3, .text = "a mark"});
  EXPECT_THAT(NextFile().events, ElementsAre("a mark"));
}

TEST_F(RecordEncoderTest, MemoryFollowsWhatIsLoaded) {
  for (int i = 0; i < 10'000; ++i) {
    encoder_.Forget({Load(i, 2)}, {});
    encoder_.ForgetThread(encoder_.DefineThread({.name = absl::StrCat("thread ", i)}));
  }
  EXPECT_EQ(encoder_.classes(), 0u);
  const File next = NextFile();
  EXPECT_LE(next.strings.size(), 2u) << "one string of no definition: run";
}

TEST_F(RecordEncoderTest, NextTraceDefinesAgainAndKeepsNumbers) {
  const uint32_t klass = encoder_.ClassNumber("a.B", 0);
  const uint32_t f = encoder_.RoutineNumber(klass, "f", "()V");
  encoder_.DefineThread({.name = "main"});
  encoder_.EndTrace();
  encoder_.AddEvent({.major = format::kSession});
  const uint32_t g = encoder_.RoutineNumber(klass, "g", "()V");
  EXPECT_EQ(encoder_.Take().ByteSizeLong(), 0u) << "nothing is kept while no trace is open";
  EventCodeSet codes;
  ASSERT_TRUE(codes.Apply("-gc").ok());
  encoder_.BeginTrace(codes);
  encoder_.AddEvent({.major = format::kGc});
  EXPECT_EQ(encoder_.RoutineNumber(klass, "f", "()V"), f);
  EXPECT_EQ(encoder_.DefineThread({.name = "main"}), 1u);
  encoder_.DefineRoutines({f, g});
  const proto::Chunk chunk = encoder_.Take();
  EXPECT_EQ(chunk.class_def_size(), 1);
  ASSERT_EQ(chunk.routine_size(), 2);
  EXPECT_EQ(chunk.routine(0).id() + chunk.routine(1).id(), f + g);
  EXPECT_EQ(chunk.event_size(), 0);
  for (const std::string name : {"a.B", "f", "g", "()V", "main"}) {
    EXPECT_THAT(chunk.string(), ::testing::Contains(name));
  }
}

TEST_F(RecordEncoderTest, NumbersAreStableAndDefinedOnce) {
  const uint32_t boot = encoder_.ClassNumber("a.B", 0);
  const uint32_t other = encoder_.ClassNumber("a.B", 3);
  EXPECT_NE(boot, other) << "the loader is part of a class's identity";
  const uint32_t f = encoder_.RoutineNumber(boot, "f", "()V");
  EXPECT_NE(f, encoder_.RoutineNumber(other, "f", "()V"));
  EXPECT_EQ(f, encoder_.RoutineNumber(boot, "f", "()V"));
  EXPECT_NE(f, encoder_.RoutineNumber(boot, "f", "(I)V"));
  encoder_.DefineRoutines({1, 2, 3});
  const proto::Chunk chunk = encoder_.Take();
  EXPECT_EQ(chunk.class_def_size(), 2);
  EXPECT_EQ(chunk.routine_size(), 3);
  EXPECT_EQ(encoder_.ClassNumber("a.B", 0), boot);
  encoder_.DefineRoutines({1, 2, 3});
  EXPECT_EQ(encoder_.Take().class_def_size(), 0);
}

TEST_F(RecordEncoderTest, IsNotUsedAfterAnExceptionLeftIt) {
  encoder_.RoutineNumber(encoder_.ClassNumber("a.B", 0), "f", "()V");
  const auto fail = [](uint32_t, const RoutineText&) { throw std::bad_alloc(); };
  EXPECT_THROW(encoder_.ForEachRoutine(fail), std::bad_alloc);
  EXPECT_THROW(encoder_.String("text"), std::bad_alloc);
  EXPECT_THROW(encoder_.Take(), std::bad_alloc);
}

}  // namespace
}  // namespace jtrace::trace
