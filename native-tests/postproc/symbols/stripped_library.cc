// A library whose symbols are stripped into a file of their own (see CMakeLists.txt).
namespace {

// In .symtab alone: nobody can link to it.
[[gnu::noinline]] int JtraceTestLocalFunction(int x) { return x * 5 + 2; }

}  // namespace

extern "C" [[gnu::visibility("default")]] void* jtrace_test_local_function() {
  return reinterpret_cast<void*>(&JtraceTestLocalFunction);
}
