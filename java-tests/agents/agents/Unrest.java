package agents;

import java.io.IOException;
import java.io.InputStream;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Threads that disturb the program as long as it runs, without changing its behaviour. */
final class Unrest {
  private static final int MOST_AT_ONCE = 5;

  /** HotSpot keeps each old version of a method that runs, and a change takes longer with each. */
  private static final int MOST_CHANGES = 1_000;

  /** An action that a thread repeats. */
  private interface Step {
    void run() throws Exception;
  }

  /** An action on several classes at once. */
  private interface Change {
    void apply(List<Class<?>> classes) throws Exception;
  }

  private Unrest() {}

  private static void repeat(String name, int times, long pauseMs, Step step) {
    Thread thread =
        new Thread(
            () -> {
              try {
                for (int i = 0; i < times; i++) {
                  long begin = System.nanoTime();
                  tryIt(step);
                  // The program gets at least half of the time, even if a step is slow.
                  Thread.sleep(pauseMs + (System.nanoTime() - begin) / 1_000_000);
                }
              } catch (Exception e) {
                e.printStackTrace();
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  /** The JVM refuses a class whose initialiser has failed, with an internal error. */
  private static void tryIt(Step step) throws Exception {
    try {
      step.run();
    } catch (InternalError e) {
      if (!e.getMessage().contains("invalid class")) throw e;
    }
  }

  /** Retransforms a few random classes with this prefix, again and again. */
  static void retransform(Instrumentation home, String prefix, long pauseMs, long seed) {
    change(
        "retransforms",
        home,
        prefix,
        pauseMs,
        seed,
        some -> {
          if (!some.isEmpty()) home.retransformClasses(some.toArray(Class<?>[]::new));
        });
  }

  /** The same by redefinition, with their original class files. */
  static void redefine(Instrumentation home, String prefix, long pauseMs, long seed) {
    change(
        "redefines",
        home,
        prefix,
        pauseMs,
        seed,
        some -> {
          for (Class<?> type : some) {
            byte[] file = classFileOf(type);
            if (file != null) home.redefineClasses(new ClassDefinition(type, file));
          }
        });
  }

  private static void change(
      String name, Instrumentation home, String prefix, long pauseMs, long seed, Change change) {
    Random random = new Random(seed);
    repeat(name, MOST_CHANGES, pauseMs, () -> change.apply(some(home, prefix, random)));
  }

  private static byte[] classFileOf(Class<?> type) throws IOException {
    String file = type.getName().replace('.', '/') + ".class";
    if (type.getClassLoader() != ClassLoader.getSystemClassLoader()) return null;
    try (InputStream bytes = ClassLoader.getSystemResourceAsStream(file)) {
      return bytes == null ? null : bytes.readAllBytes();
    }
  }

  private static List<Class<?>> some(Instrumentation home, String prefix, Random random) {
    List<Class<?>> candidates = new ArrayList<>();
    Class<?>[] loaded = home.getAllLoadedClasses();
    if (loaded == null) return List.of(); // the JVM is ending
    for (Class<?> type : loaded) {
      boolean wanted = type.getName().replace('.', '/').startsWith(prefix);
      if (wanted && home.isModifiableClass(type)) candidates.add(type);
    }
    List<Class<?>> some = new ArrayList<>();
    for (int i = random.nextInt(MOST_AT_ONCE) + 1; i > 0 && !candidates.isEmpty(); i--) {
      some.add(candidates.remove(random.nextInt(candidates.size())));
    }
    return some;
  }

  static void fork(long pauseMs) {
    repeat(
        "forks",
        Integer.MAX_VALUE,
        pauseMs,
        () -> new ProcessBuilder("/bin/true").start().waitFor());
  }
}
