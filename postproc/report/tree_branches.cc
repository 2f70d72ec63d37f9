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
  has_more_.resize(level + 1);
  has_more_[level] = !is_last;
  if (level > drawn_levels_) {
    const std::string number = StrCat("⋯", level, " ");
    return PadLeft(number, static_cast<int>(columns_));
  }
  std::string branch;
  for (size_t above = 1; above < level; ++above) {
    branch += has_more_[above] ? "│" : " ";
    if (above <= wide_levels_) branch += "  ";
  }
  branch += is_last ? "└" : "├";
  return branch += level <= wide_levels_ ? "─ " : " ";
}

}  // namespace jtrace::postproc
