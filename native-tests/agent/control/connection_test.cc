#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "agent/control/connections.h"
#include "gmock/gmock.h"
#include "proto/control_protocol.h"

namespace jtrace::control {
namespace {

// A connection without threads and sockets of the file system; both ends do not wait.
class ConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    client_ = AgentFd(ends[0]);
    connection_.emplace(AgentFd(ends[1]), now_, limits_);
  }

  void Send(absl::string_view text) {
    ASSERT_EQ(send(client_.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  }
  // False: it has ended.
  bool Serve() { return connection_->Serve(context_, now_); }
  std::string Received() {
    std::string text(4096, '\0');
    text.resize(
        static_cast<size_t>(std::max<ssize_t>(0, read(client_.get(), text.data(), text.size()))));
    return text;
  }

  const Limits limits_;
  RequestQueue queue_;
  AnswerMemory memory_{limits_.all_answers_bytes};
  const ConnectionContext context_ = {limits_, queue_, memory_};
  absl::Time now_ = absl::UnixEpoch();
  AgentFd client_;
  std::optional<Connection> connection_;
};

TEST_F(ConnectionTest, ARequestMayArriveInPieces) {
  Send("sta");
  EXPECT_TRUE(Serve());
  Send("tus\n");
  EXPECT_TRUE(Serve());
  const auto request = queue_.Next(absl::InfinitePast());
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->line, "status");
  request->answer->Finish(absl::OkStatus());
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Received(), "0\n");
}

// Clients do not read words to know what failed.
TEST_F(ConnectionTest, AFailureHasTheNumberOfItsCode) {
  Send("flush\n");
  EXPECT_TRUE(Serve());
  const auto request = queue_.Next(absl::InfinitePast());
  ASSERT_TRUE(request.has_value());
  request->answer->Finish(absl::FailedPreconditionError("no recording runs"));
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Received(), "?9\n!no recording runs\n2\n");
}

// The limit is the protocol's, not that of a whole number of reads.
TEST_F(ConnectionTest, ARequestInPiecesHasTheSameLimitAsAWholeOne) {
  Send("x");
  EXPECT_TRUE(Serve());
  Send(std::string(kMaxRequest - 1, 'x') + "\n");
  EXPECT_FALSE(Serve());
  EXPECT_EQ(Received(), absl::StrCat("!the request is longer than ", kMaxRequest, " bytes\n1\n"));
  EXPECT_FALSE(queue_.Next(absl::InfinitePast()).has_value());
}

TEST_F(ConnectionTest, TheLongestRequestIsAccepted) {
  Send("x");
  EXPECT_TRUE(Serve());
  Send(std::string(kMaxRequest - 2, 'x') + "\n");
  EXPECT_TRUE(Serve());
  const auto request = queue_.Next(absl::InfinitePast());
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->line.size(), kMaxRequest - 1);
}

}  // namespace
}  // namespace jtrace::control
