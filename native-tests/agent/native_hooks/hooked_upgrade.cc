// A library that is replaced while it is loaded: the same functions at other addresses.
#define EXPORTED __attribute__((noinline, used, visibility("default")))
#define INTERNAL __attribute__((noinline, used, visibility("hidden")))

extern "C" {
#ifdef UPGRADED
EXPORTED int upgrade_added(int x) { return (x * 11 + 5) / (x | 3) * 13; }
INTERNAL int upgrade_internal(int x) { return x * 7 + 2; }
EXPORTED int upgrade_fast(int x) { return x + 1; }
EXPORTED int upgrade_slow(int x) { return x + 2; }
#else
EXPORTED int upgrade_slow(int x) { return x + 2; }
EXPORTED int upgrade_fast(int x) { return x + 1; }
INTERNAL int upgrade_internal(int x) { return x * 7 + 2; }
#endif
}  // extern "C"
