// Lets handlers find the loaded object of a native frame (agent/samples/walk/object_lookup.h).
#pragma once

namespace jtrace::samples {

// The first time: has the C library do it, if it can. Otherwise copies the loader's list; then call
// it again after objects were loaded or unloaded. Takes the loader's lock: not in handlers. Any
// thread.
void RefreshObjectCopy();

// Copies the list now. One thread at a time.
void CopyObjects();

}  // namespace jtrace::samples
