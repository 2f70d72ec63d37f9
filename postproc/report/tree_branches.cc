#include "postproc/report/tree_branches.h"

#include <algorithm>

#include "postproc/report/shorten.h"
#include "postproc/support/strings.h"

namespace jtrace::postproc {
namespace {

constexpr size_t kMostWide = 32;

}  // namespace

std::string IndentOf(size_t level, int width) {
  const auto columns = static_cast<size_t>(std::max(width, 0));
  const size_t wide = width > 0 ? std::min(columns / 16, kMostWide) : kMostWide;
  const size_t drawn = wide + columns / 8;
  if (level > drawn) return StrCat("⋯", level, " ");
  return std::string(level + std::min(level, wide), ' ');
}

TreeBranches::TreeBranches(int room) : wide_levels_(kMostWide), drawn_levels_(kMostWide) {
  if (room <= 0) return;
  // Names have half of the line, or what most of them need; branches of three columns a level have
  // half of the rest.
  constexpr int kEnoughForNames = 44;
  columns_ = static_cast<size_t>(std::max({room / 2, room - kEnoughForNames, 6}));
  wide_levels_ = std::min(columns_ / 6, kMostWide);
  drawn_levels_ = wide_levels_ + (columns_ - 3 * wide_levels_);
}

std::string TreeBranches::Next(size_t level, bool is_last) {
  if (level == 0) return "";
  if (level > drawn_levels_) {
    const std::string number = StrCat("⋯", level, " ");
    return PadLeft(number, static_cast<int>(columns_));
  }
  const bool is_wide = level <= wide_levels_;
  ends_.resize(level);
  above_.resize(ends_.back());
  std::string branch = StrCat(above_, is_last ? "└" : "├", is_wide ? "─ " : " ");
  StrAppend(&above_, is_last ? " " : "│", is_wide ? "  " : "");
  ends_.push_back(above_.size());
  return branch;
}

}  // namespace jtrace::postproc
