#include "postproc/model/path_step.h"

#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::string PlaceText(CallSite place) {
  if (place == kNoCallSite) return "";
  return StrCat(IsLine(place) ? ":" : "@", NumberInCallSite(place));
}

}  // namespace jtrace::postproc
