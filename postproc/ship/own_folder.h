// The folders that the shipper makes below that of the traces. Traces are of users that may put
// anything there, and the shipper may be root: so it goes through no link, and into no folder of
// another user.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace jtrace::ship {

// Of the shipper's own files, below the folder of the traces.
inline constexpr std::string_view kOwnFolder = ".jtrace-ship";

// An open folder: what is done in it stays there, whatever takes its name meanwhile.
class OwnFolder {
 public:
  // `below`: "shipped", or ".jtrace-ship/delivered". Makes what is missing, for this user alone.
  // FailedPrecondition if a part of it is a link, or of another user.
  static absl::StatusOr<OwnFolder> Make(const std::string& folder, std::string_view below);
  // NotFound if there is none.
  static absl::StatusOr<OwnFolder> Find(const std::string& folder, std::string_view below);
  ~OwnFolder();
  OwnFolder(OwnFolder&& other) noexcept;
  OwnFolder& operator=(OwnFolder&&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  std::vector<std::string> Names() const;
  // True if there is no such file any more.
  bool Remove(const std::string& name) const;

 private:
  OwnFolder(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  static absl::StatusOr<OwnFolder> Open(const std::string& folder, std::string_view below,
                                        bool makes);
  int fd_;
  std::string path_;
};

// A name for the notes of a file of that name: the same, but for one so long that no ending would
// fit behind it.
std::string NoteName(const std::string& name);

}  // namespace jtrace::ship
