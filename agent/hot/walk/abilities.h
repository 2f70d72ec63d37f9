// What the walker can do on this processor.
#pragma once

namespace jtrace::hot {

// Whether it finds a frame's caller. Otherwise WalkPc alone has a result: stack=pc.
extern const bool kWalksStacks;

}  // namespace jtrace::hot
