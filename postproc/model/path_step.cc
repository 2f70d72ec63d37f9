#include "postproc/model/path_step.h"

#include "postproc/support/strings.h"

namespace jtrace::postproc {

std::string PlaceText(CallPlace place) {
  if (place == kNoCallPlace) return "";
  return StrCat(IsLine(place) ? ":" : "@", NumberInPlace(place));
}

}  // namespace jtrace::postproc
