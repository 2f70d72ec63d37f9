// Lets handlers find the loaded object of a native frame (agent/samples/walk/object_lookup.h).
#pragma once

namespace jtrace::samples {

// Prepares object_lookup.h: the first call uses the C library's lookup, if there is one. Otherwise
// each call copies the loader's list, and must be repeated after objects were loaded or unloaded.
// Takes the loader's lock, so it must not run in a handler. Any thread.
void RefreshDsoCopy();

// Copies the loader's list now. One thread at a time.
void CopyDsos();

}  // namespace jtrace::samples
