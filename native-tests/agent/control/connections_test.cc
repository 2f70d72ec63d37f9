// Clients of the control socket that are slow, many or malicious.
#include "agent/control/connections.h"

#include <algorithm>
#include <random>

#include "gmock/gmock.h"
#include "native-tests/agent/control/server_fixture.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

// No client is closed because a busy machine made a test slow.
Limits Patient() { return {.for_request = absl::Hours(1), .for_answer = absl::Hours(1)}; }

// Whether the server has neither sent anything to the client nor closed its connection.
bool IsOpen(int fd) {
  char byte;
  return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

void CloseAll(const std::vector<int>& connections) {
  for (const int fd : connections) close(fd);
}

TEST(ConnectionsTest, SlowClientsHoldUpNeitherOthersNorDeadlines) {
  Fixture f(Patient(), /*period=*/absl::Milliseconds(1));
  const int silent = Connect(f.path);
  const int by_bytes = Send(f.path, "s");
  const int does_not_read = Send(f.path, "much\n");
  f.WaitForRequests(1);
  const int ticks = f.commands.ticks;
  EXPECT_THAT(Ask(f.path, "status\n"), EndsWith("=second\n0\n"));
  while (f.commands.ticks < ticks + 5) absl::SleepFor(absl::Milliseconds(1));
  EXPECT_TRUE(IsOpen(silent)) << "it was waited for";
  EXPECT_TRUE(IsOpen(by_bytes)) << "it was waited for";
  for (const char byte : std::string("tatus\n")) ASSERT_EQ(write(by_bytes, &byte, 1), 1);
  EXPECT_THAT(ReadAnswer(by_bytes), EndsWith("=second\n0\n"));
  EXPECT_EQ(ReadAnswer(does_not_read).size(),
            FakeCommands::kMuchLines * (FakeCommands::kMuchLine.size() + 2) + 2)
      << "late, but whole";
  close(silent);
}

TEST(ConnectionsTest, EachRequestHasATimeLimit) {
  Limits limits = Patient();
  limits.for_request = absl::Milliseconds(20);
  Fixture f(limits);
  const int by_bytes = Send(f.path, "status");
  EXPECT_EQ(ReadAnswer(by_bytes), "!no complete request arrived within 20ms of connecting\n1\n");
  EXPECT_TRUE(f.Requests().empty());
}

TEST(ConnectionsTest, EachAnswerHasATimeLimitForReading) {
  Limits limits = Patient();
  limits.for_answer = absl::Milliseconds(20);
  limits.connections = 1;  // the next one is served when the first has disconnected
  Fixture f(limits);
  const int does_not_read = Send(f.path, "much\n");
  f.WaitForRequests(1);
  EXPECT_THAT(Ask(f.path, "status\n"), EndsWith("=second\n0\n"));
  EXPECT_LT(ReadAnswer(does_not_read).size(),
            FakeCommands::kMuchLines * FakeCommands::kMuchLine.size());
}

TEST(ConnectionsTest, RequestsAreWholeLinesOfBoundedLength) {
  Fixture f(Patient());
  const int half = Send(f.path, "stat");
  shutdown(half, SHUT_WR);
  EXPECT_EQ(ReadAnswer(half), "!the request does not end in a line feed\n1\n");
  EXPECT_EQ(Ask(f.path, std::string(kMaxRequest, 'x')),
            "!the request is longer than 65536 bytes\n1\n");
  EXPECT_THAT(Ask(f.path, std::string(kMaxRequest - 1, 'x') + "\n"), EndsWith("0\n"));
  EXPECT_EQ(f.Requests().size(), 1U);
}

TEST(ConnectionsTest, AnswersAreBounded) {
  Limits limits = Patient();
  limits.answer_bytes = 10'000;
  Fixture f(limits);
  const std::string answer = Ask(f.path, "much\n");
  EXPECT_LT(answer.size(), 10'200U);
  EXPECT_GT(answer.size(), 8'000U);
  EXPECT_THAT(answer, HasSubstr("\n!the answer is cut off"));
  EXPECT_THAT(answer, EndsWith("\n2\n"));
}

TEST(ConnectionsTest, UnreadAnswersAreBoundedTogether) {
  constexpr size_t kWhole = FakeCommands::kMuchLines * size_t{1002};
  Limits limits = Patient();
  limits.all_answers_bytes = kWhole + 1000;
  Fixture f(limits);
  const int does_not_read = Send(f.path, "much\n");
  f.WaitForRequests(1);
  const std::string cut = Ask(f.path, "much\n");
  EXPECT_THAT(cut, EndsWith("\n2\n"));
  EXPECT_LT(cut.size(), kWhole);
  EXPECT_EQ(ReadAnswer(does_not_read).size(), kWhole + 2) << "the one for which there was room";
  while (Ask(f.path, "much\n").size() != kWhole + 2) absl::SleepFor(absl::Milliseconds(1));
}

TEST(ConnectionsTest, TheOldestIdleClientMakesRoom) {
  Limits limits = Patient();
  limits.connections = 4;
  Fixture f(limits);
  std::vector<int> idle;
  for (int i = 0; i < 4; ++i) idle.push_back(Connect(f.path));
  EXPECT_THAT(Ask(f.path, "status\n"), EndsWith("0\n"));
  EXPECT_FALSE(IsOpen(idle.front()));
  EXPECT_TRUE(IsOpen(idle.back()));
  CloseAll(idle);
}

// More than the queue and the connections hold: all wait for their turn.
TEST(ConnectionsTest, RequestsWaitForTheRunningOne) {
  Limits limits = Patient();
  limits.connections = 24;
  Fixture f(limits);
  std::vector<int> asking = {Send(f.path, "hold\n")};
  f.WaitForRequests(1);
  for (int i = 0; i < 30; ++i) asking.push_back(Send(f.path, absl::StrCat("mark ", i, "\n")));
  EXPECT_TRUE(std::all_of(asking.begin() + 1, asking.end(), IsOpen));
  f.commands.holds = false;
  for (const int fd : asking) EXPECT_THAT(ReadAnswer(fd), EndsWith("=second\n0\n"));
  ASSERT_EQ(f.Requests().size(), 31U);
  EXPECT_EQ(f.Requests()[0], "hold|");
  EXPECT_EQ(f.Requests()[1], "mark|0");
}

TEST(ConnectionsTest, ARequestIsCarriedOutAlsoIfTheClientHasLeft) {
  Fixture f(Patient());
  const int holding = Send(f.path, "hold\n");
  f.WaitForRequests(1);
  close(Send(f.path, "stop\n"));
  close(holding);
  f.commands.holds = false;
  f.WaitForRequests(2);
  EXPECT_EQ(f.Requests()[1], "stop|");
}

// Any input: random bytes, halves of lines, too much, ends at any moment.
TEST(ConnectionsTest, MalformedRequestsDoNoHarm) {
  constexpr int kRequests = 2'000;
  Fixture f;
  std::minstd_rand random(7);
  for (int i = 0; i < kRequests; ++i) {
    std::string request(random() % 300, '\0');
    for (char& c : request) c = static_cast<char>(random() >> 5);
    if (i % 100 == 0) request.assign(kMaxRequest + random() % 1000, static_cast<char>(random()));
    if (random() % 2 == 0) request += '\n';
    const int fd = Connect(f.path);
    ASSERT_GE(fd, 0) << i;
    (void)!send(fd, request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (random() % 4 == 0) shutdown(fd, SHUT_WR);
    close(fd);
  }
  EXPECT_THAT(Ask(f.path, "status\n"), EndsWith("=second\n0\n"));
}

}  // namespace
}  // namespace jtrace::control
