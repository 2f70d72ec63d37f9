/** The template of the classes that GeneratedPaths makes; the digits of the name are a number. */
final class Generated00000000 {
  private Generated00000000() {}

  /** Calls 2^(depth+1) - 1 methods, this one included, along paths that depend on the seed. */
  static void a(int depth, int seed) {
    GeneratedPaths.calls++;
    if (depth == 0) return;
    if ((seed & 1) == 0) a(depth - 1, seed >> 1); else b(depth - 1, seed >> 1);
    if ((seed & 2) == 0) b(depth - 1, seed >> 2); else c(depth - 1, seed >> 2);
  }

  static void b(int depth, int seed) {
    GeneratedPaths.calls++;
    if (depth == 0) return;
    if ((seed & 1) == 0) c(depth - 1, seed >> 1); else a(depth - 1, seed >> 1);
    if ((seed & 2) == 0) a(depth - 1, seed >> 2); else b(depth - 1, seed >> 2);
  }

  static void c(int depth, int seed) {
    GeneratedPaths.calls++;
    if (depth == 0) return;
    if ((seed & 1) == 0) b(depth - 1, seed >> 1); else c(depth - 1, seed >> 1);
    if ((seed & 2) == 0) c(depth - 1, seed >> 2); else a(depth - 1, seed >> 2);
  }
}
