// S5.5: the kernel's counters of a thread are folded into it at each dispatch. jtrace's readings of
// them equal perf's counters of the same threads, which are folded at the same place.
#include "agent/metrics/kernel_readings.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/metrics/thread_counters.h"
#include "native-tests/support/perf_refuses.h"

namespace jtrace::metrics {
namespace {

constexpr int64_t kMs = 1'000'000;

struct Event {
  Metric metric;
  uint64_t perf;
};
constexpr Event kSwitches = {Metric::kSwitches, PERF_COUNT_SW_CONTEXT_SWITCHES};
constexpr Event kPageFaults = {Metric::kPageFaults, PERF_COUNT_SW_PAGE_FAULTS};
constexpr Event kTaskClock = {Metric::kCpu, PERF_COUNT_SW_TASK_CLOCK};
constexpr std::array kEvents = {kSwitches, kPageFaults, kTaskClock};

// Counts the calling thread from here on; `inherit`: also the threads that it creates.
class PerfCounter {
 public:
  PerfCounter(uint64_t event, bool inherit) {
    perf_event_attr attr = {};
    attr.size = sizeof(attr);
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = event;
    attr.inherit = inherit ? 1 : 0;
    fd_ = static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  }
  ~PerfCounter() {
    if (fd_ >= 0) close(fd_);
  }
  PerfCounter(const PerfCounter&) = delete;
  PerfCounter& operator=(const PerfCounter&) = delete;

  int64_t Read() const {
    int64_t value = 0;
    EXPECT_EQ(read(fd_, &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
    return value;
  }

 private:
  int fd_ = -1;
};

// Why perf's counters are unavailable here; "": they are available.
std::string PerfRefuses() {
  for (const Event& event : kEvents) {
    const std::string why = testing::PerfRefuses(event.perf, /*with_kernel=*/true);
    if (!why.empty()) return why + "; run as root or with kernel.perf_event_paranoid=1";
  }
  return "";
}

// Threads wait here until they may continue.
class Gate {
 public:
  Gate() { EXPECT_EQ(pipe(ends_.data()), 0); }
  ~Gate() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  void Wait() const {
    char token;
    while (read(ends_[0], &token, 1) != 1) {
    }
  }
  void Open(int threads) const {
    for (int i = 0; i < threads; ++i) EXPECT_EQ(write(ends_[1], "x", 1), 1);
  }

 private:
  std::array<int, 2> ends_ = {};
};

bool Sleeps(pid_t tid) {
  std::ifstream stat("/proc/self/task/" + std::to_string(tid) + "/stat");
  std::string text;
  std::getline(stat, text);
  const size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

// Interrupts, and the work of other machines on this one's processors: in no thread's processor
// time, but in the time that it was on a processor.
int64_t Stolen() {
  std::ifstream stat("/proc/stat");
  std::string cpu;
  int64_t user, nice, system, idle, iowait, irq, softirq, steal;
  stat >> cpu >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal;
  return (irq + softirq + steal) * 10 * kMs;
}

void Work(int rounds) {
  const int64_t end = *ReadOwn(Metric::kCpu) + rounds * 10 * kMs;
  constexpr size_t kPage = 4096;
  const size_t bytes = static_cast<size_t>(rounds) * 64 * kPage;
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  for (size_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(memory)[at] = 1;
  munmap(memory, bytes);
  for (int i = 0; i < 5 * rounds; ++i) usleep(100);
  while (*ReadOwn(Metric::kCpu) < end) {
  }
}

using Readings = std::array<int64_t, kEvents.size()>;

Readings ByJtrace(pid_t tid) {
  Readings values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = ReadThread(kEvents[i].metric, tid).value_or(-1);
  }
  return values;
}

class PerfCounters {
 public:
  explicit PerfCounters(bool inherit) {
    for (size_t i = 0; i < kEvents.size(); ++i) {
      counters_[i] = std::make_unique<PerfCounter>(kEvents[i].perf, inherit);
    }
  }
  Readings Read() const {
    Readings values;
    for (size_t i = 0; i < values.size(); ++i) values[i] = counters_[i]->Read();
    return values;
  }

 private:
  std::array<std::unique_ptr<PerfCounter>, kEvents.size()> counters_;
};

// A thread that works between two gates, and perf's counts of it.
class Worker {
 public:
  explicit Worker(int rounds) : thread_([this, rounds] { Run(rounds); }) { AwaitGate(1); }
  ~Worker() {
    gate_.Open(1);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void Work() {
    gate_.Open(1);
    AwaitGate(2);
  }
  pid_t tid() const { return tid_; }
  const PerfCounters& perf() const { return *perf_; }

 private:
  void Run(int rounds) {
    perf_ = std::make_unique<PerfCounters>(/*inherit=*/false);
    tid_ = gettid();
    at_gate_ = 1;
    gate_.Wait();
    metrics::Work(rounds);
    at_gate_ = 2;
    gate_.Wait();
  }
  // Until it waits there.
  void AwaitGate(int gate) const {
    for (int64_t before = -1;;) {
      const bool is_there = at_gate_ == gate && Sleeps(tid_);
      const int64_t switches = ReadThread(Metric::kSwitches, tid_).value_or(-1);
      if (is_there && switches == before) return;
      before = is_there ? switches : -1;
      usleep(2000);
    }
  }

  Gate gate_;
  std::unique_ptr<PerfCounters> perf_;
  std::atomic<pid_t> tid_{0};
  std::atomic<int> at_gate_{0};
  std::thread thread_;
};

TEST(KernelReadings, OfAWaitingThreadEqualPerf) {
  if (const std::string why = PerfRefuses(); !why.empty()) GTEST_SKIP() << why;
  for (const int rounds : {1, 5, 20}) {
    const int64_t stolen = Stolen();
    Worker worker(rounds);
    const Readings perf_before = worker.perf().Read(), before = ByJtrace(worker.tid());
    worker.Work();
    Readings perf = worker.perf().Read(), read = ByJtrace(worker.tid());
    for (size_t i = 0; i < kEvents.size(); ++i) {
      perf[i] -= perf_before[i];
      read[i] -= before[i];
    }
    EXPECT_EQ(read[0], perf[0]) << "switches";
    EXPECT_GE(read[0], 5 * rounds);
    EXPECT_EQ(read[1], perf[1]) << "page faults";
    EXPECT_GE(read[1], 64 * rounds);
    EXPECT_GE(read[2], rounds * 10 * kMs);
    // The time of a switch itself belongs to the thread, but perf does not count it.
    constexpr int64_t kSwitchNs = 20'000;
    EXPECT_LE(read[2], perf[2] + perf[2] / 100 + read[0] * kSwitchNs) << "processor time";
    const int64_t unknown = Stolen() - stolen + 20 * kMs;
    EXPECT_GE(read[2], perf[2] - perf[2] / 100 - unknown) << "processor time";
  }
}

// A thread's total at its end: between two readings of perf around its end.
void CountAndEnd(ThreadCounters& counters, uint64_t java_tid, int rounds) {
  Readings least, most;
  for (size_t i = 0; i < kEvents.size(); ++i) least[i] = *ReadOwn(kEvents[i].metric);
  const PerfCounters perf(/*inherit=*/false);
  for (size_t i = 0; i < kEvents.size(); ++i) most[i] = *ReadOwn(kEvents[i].metric);
  counters.Start(java_tid, 0, false);
  Work(rounds);
  const Readings before = perf.Read();
  counters.End();
  const Readings after = perf.Read();
  for (size_t i = 0; i < 2; ++i) {  // times: see above
    const int64_t total = *counters.Of(java_tid, static_cast<uint32_t>(kEvents[i].metric));
    EXPECT_GE(total, least[i] + before[i]) << i;
    EXPECT_LE(total, most[i] + after[i]) << i;
  }
}

#ifdef __SANITIZE_THREAD__
constexpr bool kHasThreadsOfItsOwn = true;
#else
constexpr bool kHasThreadsOfItsOwn = false;
#endif

// Until joined threads have exited.
void AwaitOnlyThread() {
  for (;;) {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    if (std::distance(begin(tasks), end(tasks)) == 1) return;
    usleep(1000);
  }
}

// The whole process by perf, with the kernel's counts of the process meanwhile.
std::array<Readings, 2> OfTheProcess(const PerfCounters& perf) {
  for (;;) {
    const Readings before = perf.Read();
    Readings read;
    for (size_t i = 0; i < kEvents.size(); ++i) read[i] = *ReadProcess(kEvents[i].metric);
    const Readings after = perf.Read();
    if (before[0] == after[0] && before[1] == after[1]) return {before, read};
  }
}

TEST(KernelReadings, OfTheProcessIncludeThreadsThatStartAndEnd) {
  if (kHasThreadsOfItsOwn) GTEST_SKIP() << "the sanitizer's thread counts as well";
  if (const std::string why = PerfRefuses(); !why.empty()) GTEST_SKIP() << why;
  constexpr int kGenerations = 5;
  constexpr int kThreads = 8;
  jvm::ThreadTable threads;
  ThreadCounters counters{signal_safe::AllocLayout{}, threads};
  AwaitOnlyThread();
  const PerfCounters perf(/*inherit=*/true);
  const auto [perf_before, before] = OfTheProcess(perf);
  for (int generation = 0; generation < kGenerations; ++generation) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      const auto java_tid = static_cast<uint64_t>(1 + generation * kThreads + i);
      threads.emplace_back([&, java_tid, i] { CountAndEnd(counters, java_tid, 1 + i % 3); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  AwaitOnlyThread();
  const auto [perf_after, after] = OfTheProcess(perf);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t by_perf = perf_after[i] - perf_before[i];
    const int64_t read = after[i] - before[i];
    // An ending thread leaves perf shortly before it leaves the process.
    EXPECT_GE(read, by_perf) << i;
    EXPECT_LE(read, by_perf + kGenerations * kThreads) << i;
    const auto metric = static_cast<uint32_t>(kEvents[i].metric);
    EXPECT_LE(counters.AllEnded().values[metric], read) << i;
  }
}

// No thread ends: the process has the sum of its threads.
TEST(KernelReadings, TheProcessHasTheSumOfItsThreads) {
  if (kHasThreadsOfItsOwn) GTEST_SKIP() << "the sanitizer's thread counts as well";
  AwaitOnlyThread();
  const std::array metrics = {Metric::kSwitches, Metric::kPageFaults};
  std::array<int64_t, 2> before, own_before;
  for (size_t i = 0; i < 2; ++i) {
    do {
      own_before[i] = *ReadOwn(metrics[i]);
      before[i] = *ReadProcess(metrics[i]);
    } while (own_before[i] != *ReadOwn(metrics[i]));
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (const int rounds : {1, 2, 3}) workers.push_back(std::make_unique<Worker>(rounds));
  for (const auto& worker : workers) worker->Work();
  for (size_t i = 0; i < 2; ++i) {
    int64_t sum = 0;
    for (const auto& worker : workers) sum += *ReadThread(metrics[i], worker->tid());
    int64_t own, process;
    do {
      own = *ReadOwn(metrics[i]);
      process = *ReadProcess(metrics[i]);
    } while (own != *ReadOwn(metrics[i]));
    EXPECT_EQ(process - before[i], sum + own - own_before[i]) << i;
    EXPECT_GT(sum, 0) << i;
  }
}

}  // namespace
}  // namespace jtrace::metrics
