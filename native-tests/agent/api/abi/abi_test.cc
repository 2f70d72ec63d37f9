// The C functions over threads' counters, without a JVM.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "agent/api/abi/native_api.h"
#include "agent/api/c/jtrace.h"
#include "agent/signal_safe/agent_work_scope.h"

extern "C" const jtrace_api* jtrace_get_api(uint32_t abi);

namespace jtrace::abi {
namespace {

using metrics::ThreadCounters;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kTooMany = 99;

// Knows one method, "a.B::c", and one window, 5.
class FakeHost : public NativeApi {
 public:
  ThreadCounters& counters() override { return counters_; }
  std::optional<ThreadCounters::Identity> RegisterThread() override {
    return counters_.RegisterThread();
  }
  void RegisterThreads() override {}
  absl::StatusOr<metrics::MethodTotals> Method(std::optional<uint64_t> java_tid, uint32_t,
                                               absl::string_view pattern) override {
    if (pattern == "throw") throw std::bad_alloc();
    if (pattern != "a.B::c") return absl::InvalidArgumentError("no such method");
    if (java_tid == kTooMany) return absl::ResourceExhaustedError("too many call paths");
    const int64_t calls = java_tid ? static_cast<int64_t>(*java_tid) : 1000;
    return metrics::MethodTotals{.calls = calls, .outermost_calls = 2, .base = 3, .cum = 4};
  }
  absl::StatusOr<uint64_t> OpenWindow(std::optional<uint64_t>) override { return 5; }
  absl::StatusOr<metrics::MethodTotals> WindowMethod(uint64_t window, uint32_t,
                                                     absl::string_view) override {
    if (window != 5) return absl::NotFoundError("not open");
    return metrics::MethodTotals{.calls = 55};
  }
  bool CloseWindow(uint64_t window) override { return window == 5; }
  absl::StatusOr<std::string> Command(absl::string_view verb, absl::string_view argument) override {
    if (verb == "own") return signal_safe::tls_agent_work_depth != 0 ? "jtrace" : "program";
    if (verb == "fail") return absl::UnavailableError("one\ntwo");
    if (verb == "stop") return absl::FailedPreconditionError("no recording runs");
    return std::string(verb) + "\n" + std::string(argument) + "\n";
  }
  events::Segments& segments() override { return segments_; }

 private:
  jvm::ThreadTable table_;
  ThreadCounters counters_{signal_safe::AllocLayout{}, table_};
  RecordingClock clock_;
  Losses losses_;
  trace::RecordEncoder encoder_{{}};
  trace::EventRateLimiter limits_{losses_};
  events::Segments segments_{clock_, encoder_, limits_, losses_, [] { return 1u; }};
};

const jtrace_api& Api() {
  static const jtrace_api& api = []() -> const jtrace_api& {
    Publish(*new FakeHost());
    return *jtrace_get_api(JTRACE_ABI);
  }();
  return api;
}

uint32_t IdOf(const char* name) {
  uint32_t id = 0;
  EXPECT_EQ(Api().metric_id(name, &id), JTRACE_OK) << name;
  return id;
}

// Must run first: what is published stays published.
TEST(Abi, ReportsThatTheAgentHasNotBegun) {
  const jtrace_api* const api = jtrace_get_api(JTRACE_ABI);
  ASSERT_NE(api, nullptr);
  EXPECT_EQ(api->state(), JTRACE_E_NOT_RUNNING);
  uint32_t id = 0;
  int64_t value = 0;
  size_t count = 0;
  uint64_t handle = 0;
  EXPECT_EQ(api->metric_ids(&id, 1, &count), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->metric_id("cpu.ns", &id), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->metric_info(0, nullptr), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->thread_attach(), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->own_totals(&id, 1, &value), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->totals(JTRACE_OF_PROCESS, 0, &id, 1, &value), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->reader_open(JTRACE_OF_PROCESS, 0, &id, 1, &handle), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->reader_read(1, &value, &value), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->reader_close(1), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->counter("a", "", 0, &id), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->add(32, 1), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->window_open(JTRACE_OF_PROCESS, &handle), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->window_close(1), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->method(nullptr, nullptr), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->command("stop", nullptr, nullptr, nullptr), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->segment("a", &id), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->segment_begin(1), JTRACE_E_NOT_RUNNING);
  EXPECT_EQ(api->segment_end(1), JTRACE_E_NOT_RUNNING);
}

TEST(Abi, HasATableOnlyForItsNumber) {
  EXPECT_EQ(Api().abi, JTRACE_ABI);
  EXPECT_EQ(Api().struct_size, sizeof(jtrace_api));
  EXPECT_EQ(jtrace_get_api(JTRACE_ABI + 1), nullptr);
  EXPECT_EQ(jtrace_get_api(0), nullptr);
  EXPECT_NE(std::string(Api().version), "0.0.0");
}

TEST(Abi, EachCodeHasItsOwnText) {
  std::vector<std::string> texts;
  for (int32_t code = JTRACE_OK; code >= JTRACE_E_INTERNAL; --code) {
    const std::string text = Api().error_text(code);
    EXPECT_THAT(texts, ::testing::Not(::testing::Contains(text))) << code;
    texts.push_back(text);
  }
  for (const int32_t code : {1, JTRACE_E_INTERNAL - 1, INT32_MIN, INT32_MAX}) {
    EXPECT_THAT(Api().error_text(code), HasSubstr("not a code"));
  }
}

TEST(Abi, DescribesEachMetric) {
  size_t count = 0;
  ASSERT_EQ(Api().metric_ids(nullptr, 0, &count), JTRACE_OK);
  std::vector<uint32_t> ids(count);
  ASSERT_EQ(Api().metric_ids(ids.data(), ids.size(), &count), JTRACE_OK);
  for (const uint32_t id : ids) {
    jtrace_metric info = {};
    info.struct_size = sizeof(info);
    ASSERT_EQ(Api().metric_info(id, &info), JTRACE_OK);
    EXPECT_EQ(info.id, id);
    EXPECT_EQ(IdOf(info.name), id);
    EXPECT_STRNE(info.meaning, "");
  }
  struct {
    jtrace_metric known = {};
    uint64_t later = 7;
  } larger;
  larger.known.struct_size = sizeof(larger);
  ASSERT_EQ(Api().metric_info(IdOf("cpu.ns"), &larger.known), JTRACE_OK);
  EXPECT_STREQ(larger.known.unit, "ns");
  EXPECT_EQ(larger.known.reach, static_cast<uint32_t>(JTRACE_REACH_THREAD));
  EXPECT_EQ(larger.later, 0u) << "what this agent does not know";
  ASSERT_EQ(Api().metric_info(IdOf("exceptions"), &larger.known), JTRACE_OK);
  EXPECT_EQ(larger.known.available, JTRACE_E_NOT_COUNTED);
  larger.known.struct_size = sizeof(jtrace_metric) - 1;
  EXPECT_EQ(Api().metric_info(0, &larger.known), JTRACE_E_ARGUMENT);
  uint32_t id = 0;
  EXPECT_EQ(Api().metric_id("alloc.byts", &id), JTRACE_E_METRIC);
  EXPECT_EQ(Api().metric_id(nullptr, &id), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().metric_info(~0u, &larger.known), JTRACE_E_METRIC);
  EXPECT_EQ(Api().metric_ids(nullptr, 1, &count), JTRACE_E_ARGUMENT);
}

TEST(Abi, CountersAreFoundByTheirNames) {
  uint32_t first = 0, again = 0;
  ASSERT_EQ(Api().counter("found", "B", 0, &first), JTRACE_OK);
  EXPECT_EQ(Api().counter("found", nullptr, 0, &again), JTRACE_OK);
  EXPECT_EQ(first, again);
  EXPECT_EQ(IdOf("user.found"), first);
  EXPECT_EQ(Api().counter("found", "B", JTRACE_COUNTER_PER_CPU, &again), JTRACE_E_KIND);
  EXPECT_EQ(Api().counter("a b", "", 0, &again), JTRACE_E_NAME);
  EXPECT_EQ(Api().counter("c", "", 2, &again), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().counter(nullptr, "", 0, &again), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().add(IdOf("cpu.ns"), 1), JTRACE_E_METRIC);
}

TEST(Abi, ThreadsAreReportedOnceTheyAreAttached) {
  uint32_t id = 0;
  ASSERT_EQ(Api().counter("attached", "", 0, &id), JTRACE_OK);
  int64_t before = 0, after = 0;
  ASSERT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, &id, 1, &before), JTRACE_OK);
  std::thread([&] {
    const uint32_t ids[] = {id, IdOf("cpu.ns"), id};
    int64_t values[3] = {};
    EXPECT_EQ(Api().own_totals(ids, 3, values), JTRACE_E_THREAD);
    EXPECT_EQ(Api().add(id, 1), JTRACE_E_THREAD);
    ASSERT_EQ(Api().thread_attach(), JTRACE_OK);
    ASSERT_EQ(Api().thread_attach(), JTRACE_OK);
    EXPECT_EQ(Api().add(id, 5), JTRACE_OK);
    ASSERT_EQ(Api().own_totals(ids, 3, values), JTRACE_OK);
    EXPECT_EQ(values[0], 5);
    EXPECT_EQ(values[2], 5);
    int64_t same = 0;
    EXPECT_EQ(Api().totals(JTRACE_OF_OWN_THREAD, 0, &id, 1, &same), JTRACE_OK);
    EXPECT_EQ(same, 5);
    const auto self = static_cast<uint64_t>(gettid());
    EXPECT_EQ(Api().totals(JTRACE_OF_OS_THREAD, self, &id, 1, &same), JTRACE_OK);
    EXPECT_EQ(same, 5);
    // An id of more bits than the kernel gives is not cut to one that exists.
    const uint64_t too_large = (uint64_t{1} << 32) + self;
    EXPECT_EQ(Api().totals(JTRACE_OF_OS_THREAD, too_large, &id, 1, &same), JTRACE_E_THREAD);
    const uint32_t read = IdOf("io.read.bytes");
    EXPECT_EQ(Api().own_totals(&read, 1, &same), JTRACE_E_HANDLER);
    EXPECT_EQ(Api().totals(JTRACE_OF_OWN_THREAD, 0, &read, 1, &same), JTRACE_OK);
  }).join();
  ASSERT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, &id, 1, &after), JTRACE_OK);
  EXPECT_EQ(after - before, 5);
  int64_t value = 0;
  EXPECT_EQ(Api().totals(JTRACE_OF_JAVA_THREAD, 4711, &id, 1, &value), JTRACE_E_THREAD);
  EXPECT_EQ(Api().totals(JTRACE_OF_OS_THREAD, 1, &id, 1, &value), JTRACE_E_THREAD);
  EXPECT_EQ(Api().totals(4, 0, &id, 1, &value), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, nullptr, 1, &value), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, nullptr, 0, nullptr), JTRACE_OK);
  const uint32_t gc = IdOf("gc.ns"), calls = IdOf("calls");
  EXPECT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, &gc, 1, &value), JTRACE_E_NOT_COUNTED);
  EXPECT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, &calls, 1, &value), JTRACE_E_REACH);
}

TEST(Abi, ReadersHaveCursorsOfTheirOwn) {
  ASSERT_EQ(Api().thread_attach(), JTRACE_OK);
  uint32_t id = 0, all = 0;
  ASSERT_EQ(Api().counter("read", "", 0, &id), JTRACE_OK);
  ASSERT_EQ(Api().counter("read.all", "", JTRACE_COUNTER_PER_CPU, &all), JTRACE_OK);
  const uint32_t both[] = {id, all};
  uint64_t own = 0, process = 0;
  Api().add(id, 100);
  ASSERT_EQ(Api().reader_open(JTRACE_OF_OWN_THREAD, 0, &id, 1, &own), JTRACE_OK);
  ASSERT_EQ(Api().reader_open(JTRACE_OF_PROCESS, 0, both, 2, &process), JTRACE_OK);
  EXPECT_NE(own, process);
  int64_t total = 0, delta = 0;
  int64_t totals[2] = {}, deltas[2] = {};
  Api().add(id, 5);
  ASSERT_EQ(Api().reader_read(own, &total, &delta), JTRACE_OK);
  EXPECT_EQ(total, 105);
  EXPECT_EQ(delta, 5);
  std::thread([&] {
    ASSERT_EQ(Api().thread_attach(), JTRACE_OK);
    Api().add(id, 1000);
    Api().add(all, 7);
    EXPECT_EQ(Api().reader_read(own, nullptr, &delta), JTRACE_OK);
    EXPECT_EQ(delta, 0) << "it stays the thread that opened it";
  }).join();
  Api().add(id, 2);
  ASSERT_EQ(Api().reader_read(process, totals, deltas), JTRACE_OK);
  EXPECT_THAT(totals, ElementsAre(1107, 7));
  EXPECT_THAT(deltas, ElementsAre(1007, 7));
  ASSERT_EQ(Api().reader_read(own, nullptr, &delta), JTRACE_OK);
  EXPECT_EQ(delta, 2);
  EXPECT_EQ(Api().reader_close(own), JTRACE_OK);
  EXPECT_EQ(Api().reader_close(own), JTRACE_E_HANDLE);
  EXPECT_EQ(Api().reader_read(own, &total, &delta), JTRACE_E_HANDLE);
  EXPECT_EQ(Api().reader_read(process, nullptr, nullptr), JTRACE_OK);
  EXPECT_EQ(Api().reader_close(process), JTRACE_OK);
  EXPECT_EQ(Api().reader_open(JTRACE_OF_OWN_THREAD, 0, &all, 1, &own), JTRACE_E_REACH);
}

TEST(Abi, MethodsAndWindows) {
  jtrace_method_query query = {};
  jtrace_method_stats stats = {};
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_ARGUMENT);
  query.struct_size = sizeof(query);
  query.metric = IdOf("calls");
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_ARGUMENT) << "no pattern";
  query.pattern = "a.B::c";
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_ARGUMENT) << "stats has no size";
  stats.struct_size = sizeof(stats);
  ASSERT_EQ(Api().method(&query, &stats), JTRACE_OK);
  EXPECT_EQ(stats.calls, 1000);
  EXPECT_EQ(stats.outermost_calls, 2);
  EXPECT_EQ(stats.base, 3);
  EXPECT_EQ(stats.cum, 4);
  query.of = JTRACE_OF_JAVA_THREAD;
  query.thread = 12;
  ASSERT_EQ(Api().method(&query, &stats), JTRACE_OK);
  EXPECT_EQ(stats.calls, 12);
  query.thread = kTooMany;
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_FULL);
  query.pattern = "nothing";
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_PATTERN);
  query.pattern = "throw";
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_MEMORY);
  uint64_t window = 0;
  EXPECT_EQ(Api().window_open(JTRACE_OF_JAVA_THREAD, &window), JTRACE_E_ARGUMENT);
  ASSERT_EQ(Api().window_open(JTRACE_OF_PROCESS, &window), JTRACE_OK);
  query.window = window;
  ASSERT_EQ(Api().method(&query, &stats), JTRACE_OK);
  EXPECT_EQ(stats.calls, 55);
  query.window = 6;
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_HANDLE);
  EXPECT_EQ(Api().window_close(6), JTRACE_E_HANDLE);
  EXPECT_EQ(Api().window_close(5), JTRACE_OK);
  query.metric = 31;
  EXPECT_EQ(Api().method(&query, &stats), JTRACE_E_METRIC);
}

TEST(Abi, SegmentsNestInTheirThread) {
  uint32_t outer = 0;
  uint32_t inner = 0;
  ASSERT_EQ(Api().segment("outer", &outer), JTRACE_OK);
  ASSERT_EQ(Api().segment("inner", &inner), JTRACE_OK);
  EXPECT_EQ(Api().segment("", &inner), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().segment(nullptr, &inner), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().segment("outer", nullptr), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().segment_begin(999), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().segment_end(999), JTRACE_E_ARGUMENT);
  EXPECT_EQ(Api().segment_end(outer), JTRACE_E_HANDLE);
  EXPECT_EQ(Api().segment_begin(outer), JTRACE_OK);
  EXPECT_EQ(Api().segment_begin(inner), JTRACE_OK);
  std::thread([&] { EXPECT_EQ(Api().segment_end(inner), JTRACE_E_HANDLE); }).join();
  EXPECT_EQ(Api().segment_end(outer), JTRACE_OK);
  EXPECT_EQ(Api().segment_end(inner), JTRACE_E_HANDLE);
  std::thread([&] {
    int32_t code = JTRACE_OK;
    for (int i = 0; i < 1001; ++i) code = Api().segment_begin(inner);
    EXPECT_EQ(code, JTRACE_E_FULL);
  }).join();
}

void Note(void* lines, int32_t is_error, const char* line) {
  static_cast<std::vector<std::string>*>(lines)->push_back((is_error ? "!" : "") +
                                                           std::string(line));
}

TEST(Abi, CommandsReplyLineByLine) {
  std::vector<std::string> lines;
  EXPECT_EQ(Api().command("mark", "here", Note, &lines), JTRACE_OK);
  EXPECT_THAT(lines, ElementsAre("mark", "here"));
  lines.clear();
  EXPECT_EQ(Api().command("fail", nullptr, Note, &lines), JTRACE_E_FAILED);
  EXPECT_THAT(lines, ElementsAre("!one", "!two"));
  EXPECT_EQ(Api().command("stop", nullptr, nullptr, nullptr), JTRACE_E_STATE);
  EXPECT_EQ(Api().command(nullptr, nullptr, Note, &lines), JTRACE_E_ARGUMENT);
}

void NoteWhose(void* whose, int32_t, const char* line) {
  *static_cast<std::string*>(whose) =
      std::string(line) + (signal_safe::tls_agent_work_depth != 0 ? " jtrace" : " program");
}

// Hooks count the sink's work, but not the agent's.
TEST(Abi, TheSinkIsTheProgramsWork) {
  std::string whose;
  EXPECT_EQ(Api().command("own", nullptr, NoteWhose, &whose), JTRACE_OK);
  EXPECT_EQ(whose, "jtrace program");
  EXPECT_EQ(signal_safe::tls_agent_work_depth, 0u);
}

// Must run last: no call succeeds after the end.
TEST(Abi, AnswersNothingAfterTheEnd) {
  const uint32_t id = IdOf("cpu.ns");
  ASSERT_EQ(Api().thread_attach(), JTRACE_OK);
  End();
  int64_t value = 0;
  EXPECT_EQ(Api().state(), JTRACE_E_ENDED);
  EXPECT_EQ(Api().own_totals(&id, 1, &value), JTRACE_E_ENDED);
  EXPECT_EQ(Api().totals(JTRACE_OF_PROCESS, 0, &id, 1, &value), JTRACE_E_ENDED);
  EXPECT_EQ(Api().add(32, 1), JTRACE_E_ENDED);
  EXPECT_EQ(Api().command("status", nullptr, nullptr, nullptr), JTRACE_E_ENDED);
  EXPECT_EQ(Api().segment_begin(1), JTRACE_E_ENDED);
}

}  // namespace
}  // namespace jtrace::abi
