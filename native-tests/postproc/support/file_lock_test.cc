// Whether another holds the lock of a file.
#include "postproc/support/file_lock.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace jtrace::postproc {
namespace {

TEST(FileLockTest, OnlyAnothersLockIsAFailure) {
  const std::string path = ::testing::TempDir() + "/file_lock_test";
  const int one = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  const int other = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(other, 0);
  EXPECT_TRUE(TakeLock(one, LOCK_EX));
  EXPECT_FALSE(TakeLock(other, LOCK_EX));
  EXPECT_FALSE(TakeLock(other, LOCK_SH));
  close(one);
  EXPECT_TRUE(TakeLock(other, LOCK_EX));
  close(other);
  // As where there are no locks: an error that is not about another.
  EXPECT_TRUE(TakeLock(-1, LOCK_EX));
  unlink(path.c_str());
}

}  // namespace
}  // namespace jtrace::postproc
