import java.io.InputStream;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Links every class of a pack, and so runs HotSpot's verifier on it (with -Xverify:all on all of
 * them), without initialising it: a query of a class's declared constructors links it. If the names
 * in the pack begin with modules, the classes are loaded from the (patched) module image, otherwise
 * from the pack.
 */
public final class LinkAll {
  private static int linked;
  private static int unresolved;
  private static int failed;

  /** Defines a pack's classes. */
  private static final class PackLoader extends ClassLoader {
    private final Map<String, byte[]> classes;

    PackLoader(Map<String, byte[]> classes) {
      super(ClassLoader.getPlatformClassLoader());
      this.classes = classes;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      byte[] bytes = classes.get(name);
      if (bytes == null) throw new ClassNotFoundException(name);
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  /** Broken on purpose below, to check that linking verifies. */
  static final class Control {
    static int answer() {
      return 12345;
    }
  }

  private static boolean controlFails() throws Exception {
    byte[] bytes;
    try (InputStream in = LinkAll.class.getResourceAsStream("LinkAll$Control.class")) {
      bytes = in.readAllBytes();
    }
    int at = 0;  // sipush 12345; ireturn
    while (bytes[at] != 0x11 || bytes[at + 1] != 0x30 || bytes[at + 2] != 0x39) ++at;
    bytes[at + 3] = (byte) 0xB0;  // areturn
    PackLoader loader = new PackLoader(Map.of("LinkAll$Control", bytes));
    try {
      link(Class.forName("LinkAll$Control", false, loader));
      return false;
    } catch (VerifyError expected) {
      return true;
    }
  }

  private static String className(String entry) {
    return entry.substring(0, entry.length() - ".class".length()).replace('/', '.');
  }

  private static void link(Class<?> type) {
    type.getDeclaredConstructors();
  }

  private static void tryLink(String name, ClassLoader loader) {
    try {
      link(Class.forName(name, false, loader));
      ++linked;
    } catch (VerifyError | ClassFormatError | IncompatibleClassChangeError error) {
      if (++failed <= 20) System.out.println("FAILED " + name + ": " + error);
    } catch (ClassNotFoundException | LinkageError | SecurityException missing) {
      ++unresolved;  // an optional dependency that is missing; the original lacks it as well
    }
  }

  public static void main(String[] args) throws Exception {
    Path pack = Path.of(args[1]);
    if (!controlFails()) throw new AssertionError("linking does not verify");
    if (args[0].equals("jdk")) {
      Map<String, ClassLoader> loaders = new HashMap<>();
      for (Module module : ModuleLayer.boot().modules()) {
        loaders.put(module.getName(), module.getClassLoader());
      }
      Pack.read(pack, (name, bytes) -> {
        int slash = name.indexOf('/');
        String module = name.substring(0, slash);
        if (loaders.containsKey(module)) {
          tryLink(className(name.substring(slash + 1)), loaders.get(module));
        } else {
          ++unresolved;
        }
      });
    } else {
      Map<String, byte[]> classes = new HashMap<>();
      Pack.read(pack, (name, bytes) -> classes.put(className(name), bytes));
      PackLoader loader = new PackLoader(classes);
      for (String name : classes.keySet()) tryLink(name, loader);
    }
    System.out.println("linked " + linked + " unresolved " + unresolved + " failed " + failed);
    System.exit(failed == 0 && linked > 0 ? 0 : 1);
  }
}
