#include "agent/trace/trace_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/trace_format.h"

namespace {

int flock_error = 0;  // the file system's error for a lock; 0: it has locks
int write_error = 0;  // the error of the next `failing_writes` calls
int failing_writes = 0;

}  // namespace

// Replaces the C library's.
extern "C" int flock(int fd, int operation) noexcept {
  if (flock_error == 0) return static_cast<int>(syscall(SYS_flock, fd, operation));
  errno = flock_error;
  return -1;
}

extern "C" ssize_t write(int fd, const void* data, size_t size) {
  if (failing_writes == 0) return syscall(SYS_write, fd, data, size);
  --failing_writes;
  errno = write_error;
  return -1;
}

namespace jtrace::trace {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

uint32_t U32(std::string_view bytes, size_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

std::string TempPath(absl::string_view name) {
  return absl::StrCat(::testing::TempDir(), "/", name);
}

TEST(TraceFileTest, FileSystemsWithoutLocksAcceptTraces) {
  for (const int error : {ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL}) {
    flock_error = error;
    const std::string path = TempPath(absl::StrCat("no_locks.", error, ".bin"));
    auto file = TraceFile::Create(path);
    flock_error = 0;
    ASSERT_TRUE(file.ok()) << strerror(error) << file.status();
    EXPECT_EQ((*file)->path(), path) << "no other process holds it";
    EXPECT_TRUE((*file)->Append("hello").ok());
  }
}

TEST(TraceFileTest, FramesFollowTheFormat) {
  const std::string path = TempPath("frames.bin");
  {
    auto file = TraceFile::Create(path);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_TRUE((*file)->Append("hello hello hello").ok());
    ASSERT_TRUE((*file)->Append("").ok());
    EXPECT_EQ((*file)->bytes_written(), ReadFile(path).size());
  }
  const std::string bytes = ReadFile(path);
  EXPECT_EQ(bytes.substr(0, 8), "JTRACE\r\n");
  EXPECT_EQ(U32(bytes, 8), format::kVersion);
  EXPECT_EQ(bytes.substr(12, 4), "JFRM");
  const uint32_t compressed = U32(bytes, 16);
  EXPECT_EQ(U32(bytes, 20), 17u);
  const std::string body = bytes.substr(28, compressed);
  EXPECT_EQ(U32(bytes, 24), crc32(0, reinterpret_cast<const Bytef*>(body.data()), compressed));
  char text[64];
  ASSERT_EQ(ZSTD_decompress(text, sizeof(text), body.data(), body.size()), 17u);
  EXPECT_EQ(std::string_view(text, 17), "hello hello hello");
  EXPECT_EQ(bytes.substr(28 + compressed, 4), "JFRM");
}

// Closes every descriptor of `path`, as daemons do with all, and opens `other` with its number.
void ReplaceDescriptorsOf(const std::string& path, const std::string& other) {
  struct stat wanted, info;
  ASSERT_EQ(stat(path.c_str(), &wanted), 0);
  constexpr int kMaxDescriptors = 4096;
  for (int fd = 0; fd < kMaxDescriptors; ++fd) {
    if (fstat(fd, &info) != 0 || info.st_ino != wanted.st_ino || info.st_dev != wanted.st_dev) {
      continue;
    }
    const int theirs = open(other.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ASSERT_EQ(dup2(theirs, fd), fd);
    close(theirs);
  }
}

TEST(TraceFileTest, GoesOnWhenTheProgramClosesItsDescriptor) {
  const std::string path = TempPath("closed.bin"), other = TempPath("program.txt");
  std::string before;
  {
    auto file = TraceFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append("first").ok());
    before = ReadFile(path);
    ReplaceDescriptorsOf(path, other);
    ASSERT_TRUE((*file)->Append("second").ok());
    EXPECT_EQ((*file)->bytes_written(), ReadFile(path).size());
  }
  const std::string after = ReadFile(path);
  EXPECT_THAT(after, ::testing::StartsWith(before));
  EXPECT_EQ(after.substr(before.size(), 4), "JFRM");
  EXPECT_EQ(ReadFile(other), "");
}

TEST(TraceFileTest, DoesNotWriteToAnotherFileOfItsName) {
  const std::string path = TempPath("moved.bin"), other = TempPath("program.txt");
  auto file = TraceFile::Create(path);
  ASSERT_TRUE(file.ok());
  ReplaceDescriptorsOf(path, other);
  ASSERT_EQ(rename(path.c_str(), TempPath("elsewhere.bin").c_str()), 0);
  std::ofstream(path) << "somebody else's";
  const absl::Status status = (*file)->Append("text");
  EXPECT_THAT(status.ToString(), ::testing::HasSubstr("the program closed it"));
  EXPECT_EQ((*file)->Append("more"), status);
  file->reset();
  EXPECT_EQ(ReadFile(path), "somebody else's");
  EXPECT_EQ(ReadFile(other), "");
}

TEST(TraceFileTest, OthersCannotRead) {
  const std::string path = TempPath("mode.bin");
  std::ofstream(path) << "old content, readable by all";
  chmod(path.c_str(), 0644);
  const auto file = TraceFile::Create(path);
  ASSERT_TRUE(file.ok());
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, static_cast<off_t>(format::kFileHeaderSize));
}

TEST(TraceFileTest, ExistingContentStaysUntilBegin) {
  const std::string path = TempPath("stays.bin");
  std::ofstream(path) << "an older trace";
  { ASSERT_TRUE(TraceFile::Open(path).ok()); }
  EXPECT_EQ(ReadFile(path), "an older trace");
  auto file = TraceFile::Open(path);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(ReadFile(path), "an older trace");
  ASSERT_TRUE((*file)->Begin().ok());
  EXPECT_EQ(ReadFile(path).size(), format::kFileHeaderSize);
}

TEST(TraceFileTest, RemovesANewFileThatWasNeverBegun) {
  const std::string path = TempPath("never.bin");
  unlink(path.c_str());
  { ASSERT_TRUE(TraceFile::Open(path).ok()); }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(TraceFileTest, SymbolicLinkIsNotFollowed) {
  const std::string target = TempPath("target.txt");
  std::ofstream(target) << "precious";
  const std::string link = TempPath("link.bin");
  unlink(link.c_str());
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  EXPECT_THAT(TraceFile::Create(link).status().message(),
              testing::HasSubstr("it is a symbolic link; choose another file"));
  EXPECT_EQ(ReadFile(target), "precious");
}

TEST(TraceFileTest, RejectsFilesThatOthersCanRead) {
  const std::string pipe = testing::TempDir() + "trace_file_pipe";
  unlink(pipe.c_str());
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(TraceFile::Create(pipe).status().message(), testing::HasSubstr("it is not a file"))
      << "would block without a reader";
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto to_reader = TraceFile::Create(pipe);
  EXPECT_THAT(to_reader.status().message(), testing::HasSubstr("it is not a file"));
  close(reader);
  unlink(pipe.c_str());

  const std::string file = testing::TempDir() + "trace_file_linked";
  const std::string link_name = file + ".other";
  unlink(link_name.c_str());
  std::ofstream(file) << "kept";
  ASSERT_EQ(link(file.c_str(), link_name.c_str()), 0);
  EXPECT_THAT(TraceFile::Create(file).status().message(), testing::HasSubstr("second name"));
  std::string content;
  std::ifstream(file) >> content;
  EXPECT_EQ(content, "kept");
  unlink(link_name.c_str());
  unlink(file.c_str());
}

TEST(TraceFileTest, FileHeldByAnotherProcessGetsThePidIntoTheName) {
  const std::string path = TempPath("held.v1.bin");
  int ready[2];
  int done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    const auto file = TraceFile::Create(path);
    char byte = file.ok() ? 'y' : 'n';
    (void)!write(ready[1], &byte, 1);
    (void)!read(done[0], &byte, 1);
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const auto file = TraceFile::Create(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->path(), TempPath(absl::StrCat("held.v1.", getpid(), ".bin")));
  ASSERT_EQ(write(done[1], &byte, 1), 1);
  waitpid(holder, nullptr, 0);
}

TEST(TraceFileTest, UnwritableOutputNamesTheRemedy) {
  const auto file = TraceFile::Create("/nonexistent/dir/trace.bin");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()),
              ::testing::HasSubstr("choose another file with out=FILE"));
}

TEST(TraceFileTest, FullDiskIsReportedByEveryCall) {
  auto file = TraceFile::Create("/dev/full");
  // Even the header does not fit.
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(std::string(file.status().message()), ::testing::HasSubstr("No space left"));
}

// What is asked for room, and whether the write succeeded, if `failing` writes have `error`.
struct FullDisk {
  std::vector<uint64_t> asked;
  absl::Status status;
  bool is_whole = false;  // the file has everything
};

FullDisk AppendToFullDisk(int error, int failing, bool has_room) {
  const std::string path = TempPath("full.bin");
  FullDisk disk;
  auto file = TraceFile::Create(path);
  EXPECT_TRUE(file.ok());
  (*file)->WhenFull([&](uint64_t bytes) {
    disk.asked.push_back(bytes);
    return has_room;
  });
  write_error = error;
  failing_writes = failing;
  disk.status = (*file)->Append("hello");
  failing_writes = 0;
  EXPECT_EQ((*file)->Append("again"), disk.status) << "an error is for ever";
  disk.is_whole = (*file)->CheckKept().ok() && ReadFile(path).size() == (*file)->bytes_written();
  return disk;
}

TEST(TraceFileTest, AFullDiskIsTriedAgainWhenThereIsRoom) {
  for (const int error : {ENOSPC, EDQUOT}) {
    const FullDisk disk = AppendToFullDisk(error, 3, /*has_room=*/true);
    EXPECT_TRUE(disk.status.ok()) << disk.status;
    EXPECT_TRUE(disk.is_whole);
    ASSERT_EQ(disk.asked.size(), 3U) << strerror(error);
    EXPECT_GT(disk.asked[0], format::kFrameHeaderSize);
  }
}

TEST(TraceFileTest, AFullDiskWithoutRoomIsAnError) {
  const FullDisk disk = AppendToFullDisk(ENOSPC, 1, /*has_room=*/false);
  EXPECT_THAT(disk.status.ToString(), ::testing::HasSubstr("No space left"));
  EXPECT_EQ(disk.asked.size(), 1U);
}

TEST(TraceFileTest, RoomIsMadeAFewTimesOnly) {
  const FullDisk disk = AppendToFullDisk(ENOSPC, 1000, /*has_room=*/true);
  EXPECT_THAT(disk.status.ToString(), ::testing::HasSubstr("No space left"));
  EXPECT_EQ(disk.asked.size(), 8U);
}

TEST(TraceFileTest, OtherErrorsNeedNoRoom) {
  for (const int error : {EFBIG, EIO}) {
    const FullDisk disk = AppendToFullDisk(error, 1, /*has_room=*/true);
    EXPECT_FALSE(disk.status.ok());
    EXPECT_TRUE(disk.asked.empty());
  }
}

TEST(ExpandPathTest, ReplacesTheConventions) {
  setenv("JTRACE_TEST_VAR", "here", 1);
  EXPECT_EQ(ExpandPath("a-%p-%n-%{JTRACE_TEST_VAR}-%%-%x.bin", 42, 0, 7), "a-42-7-here-%-%x.bin");
  EXPECT_EQ(ExpandPath("%{unclosed", 1, 0, 1), "%{unclosed");
  EXPECT_EQ(ExpandPath("/%{JTRACE_NOT_SET}/a", 1, 0, 1), "/%{JTRACE_NOT_SET}/a");
  EXPECT_EQ(ExpandPath("end%", 1, 0, 1), "end%");
}

// The state of the file when a recording ends.
class KeptTest : public ::testing::Test {
 protected:
  KeptTest() : path_(TempPath(absl::StrCat("kept.", getpid(), ".bin"))) {
    auto file = TraceFile::Create(path_);
    EXPECT_TRUE(file.ok()) << file.status();
    file_ = *std::move(file);
    EXPECT_TRUE(file_->Append("hello").ok());
  }
  ~KeptTest() override { unlink(path_.c_str()); }
  std::string Why() const { return std::string(file_->CheckKept().message()); }

  const std::string path_;
  std::unique_ptr<TraceFile> file_;
};

TEST_F(KeptTest, AWholeFileIsKept) { EXPECT_EQ(Why(), ""); }

TEST_F(KeptTest, ARemovedFileIsNotKept) {
  unlink(path_.c_str());
  EXPECT_TRUE(file_->Append("hello").ok());
  EXPECT_EQ(Why(), absl::StrCat("'", path_,
                                "' was removed while it was written: nothing of the "
                                "recording is left; record again with an out=FILE that nothing "
                                "removes"));
}

TEST_F(KeptTest, AShortenedFileIsNotKept) {
  ASSERT_EQ(truncate(path_.c_str(), 5), 0);
  EXPECT_TRUE(absl::StrContains(Why(), "was made shorter while it was written: ")) << Why();
}

// The next write makes it as long as it was, with a hole.
TEST_F(KeptTest, AShortenedFileThatGrewAgainIsNotKept) {
  const uint64_t before = file_->bytes_written();
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  EXPECT_TRUE(file_->Append("hello again").ok());
  EXPECT_EQ(ReadFile(path_).size(), file_->bytes_written());
  EXPECT_TRUE(absl::StrContains(
      Why(), absl::StrCat(": ", before, " of ", file_->bytes_written(), " bytes are lost")))
      << Why();
}

TEST_F(KeptTest, AMovedFileIsReported) {
  const std::string moved = absl::StrCat(path_, ".moved");
  ASSERT_EQ(rename(path_.c_str(), moved.c_str()), 0);
  EXPECT_TRUE(absl::StrContains(Why(), "was moved while it was written")) << Why();
  std::ofstream(path_) << "another";
  EXPECT_TRUE(absl::StrContains(Why(), "another file was put in its place")) << Why();
  unlink(moved.c_str());
}

}  // namespace
}  // namespace jtrace::trace
