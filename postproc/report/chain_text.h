// What a line of the tree says about the nodes that it stands for: "… 12 frames of JVM start-up".
#pragma once

#include <string>
#include <vector>

#include "postproc/model/code_owner.h"
#include "postproc/report/tree_walk.h"

namespace jtrace::postproc {

// The most detailed text first; each is shorter than the one before it. `line` is a chain.
std::vector<std::string> ChainTexts(const ReportInput& input, const std::vector<CodeOwner>& kinds,
                                    const TreeLine& line);

}  // namespace jtrace::postproc
