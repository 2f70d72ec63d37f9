#include <fcntl.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "agent/base/agent_file.h"
#include "gtest/gtest.h"

namespace jtrace {
namespace {

int OpenNull() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(OwnFdTest, UsesANumberThatNoNextFileGets) {
  const int low = OpenNull();
  const AgentFd fd(low);
  EXPECT_TRUE(fd.IsOurs());
  EXPECT_GT(fd.get(), low + 20);
  EXPECT_FALSE(IsOpen(low));
  EXPECT_EQ(fcntl(fd.get(), F_GETFD), FD_CLOEXEC);
}

// The kernel's table has 64 entries at first. To enlarge it takes 10 to 20 ms in a process with
// threads.
TEST(OwnFdTest, FitsIntoTheFirstTable) {
  std::vector<AgentFd> fds;
  for (int i = 0; i < 16; ++i) fds.emplace_back(OpenNull());
  for (const AgentFd& fd : fds) EXPECT_LT(fd.get(), 64);
}

TEST(OwnFdTest, ClosesItsOwnFile) {
  int number;
  {
    const AgentFd fd(OpenNull());
    number = fd.get();
  }
  EXPECT_FALSE(IsOpen(number));
}

TEST(OwnFdTest, LeavesAProgramsFileUnderItsNumberOpen) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  int number;
  {
    const AgentFd fd(OpenNull());
    number = fd.get();
    ASSERT_EQ(dup2(ends[0], number), number);
    EXPECT_FALSE(fd.IsOurs());
    EXPECT_TRUE(fd.ok());
  }
  EXPECT_TRUE(IsOpen(number));
  close(number);
  close(ends[0]);
  close(ends[1]);
}

TEST(OwnFdTest, MovesAndCompares) {
  AgentFd first(OpenNull());
  EXPECT_TRUE(first.SameFile(AgentFd(OpenNull())));
  EXPECT_FALSE(first.SameFile(AgentFd(open("/dev/zero", O_RDONLY | O_CLOEXEC))));
  EXPECT_FALSE(AgentFd().SameFile(AgentFd()));
  const int number = first.get();
  AgentFd second = std::move(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(second.IsOurs());
  second = AgentFd();
  EXPECT_FALSE(IsOpen(number));
}

TEST(OwnFdTest, NoneBelongsToNoFile) {
  const AgentFd none(-1);
  EXPECT_FALSE(none.ok());
  EXPECT_FALSE(none.IsOurs());
}

}  // namespace
}  // namespace jtrace
