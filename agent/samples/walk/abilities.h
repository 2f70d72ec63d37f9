// What the walker can do on this processor.
#pragma once

namespace jtrace::samples {

// Whether it finds a frame's caller. Otherwise WalkPc alone has a result: stack=pc.
extern const bool kWalksStacks;

}  // namespace jtrace::samples
