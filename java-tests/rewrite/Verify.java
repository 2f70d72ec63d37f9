import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Checks every class of a pack with a verifier that is not HotSpot's: {@code
 * java.lang.classfile.ClassFile.verify} if the JDK has it (24 and later), otherwise ASM's
 * CheckClassAdapter, which must then be on the class path.
 *
 * <p>Both resolve names against the running JDK. Classes with a fault are checked again in their
 * original form (the second pack): only faults that the rewriting introduced count.
 */
public final class Verify {
  /** ClassFile.verify on classes without stack maps; only HotSpot verifies those. */
  private static final String UNSUPPORTED = "Inference verification is not supported";

  private interface Verifier {
    /** The first fault, or null. */
    String check(byte[] bytes) throws Exception;
  }

  /** Reflection, because the class is compiled with JDK 17. */
  private static Verifier classFileVerifier() throws Exception {
    Class<?> type = Class.forName("java.lang.classfile.ClassFile");
    Object context = type.getMethod("of").invoke(null);
    Method verify = type.getMethod("verify", byte[].class);
    return bytes -> {
      List<?> faults = (List<?>) verify.invoke(context, (Object) bytes);
      return faults.isEmpty() ? null : faults.get(0).toString();
    };
  }

  private static Verifier newVerifier() throws Exception {
    return Runtime.version().feature() >= 24 ? classFileVerifier() : AsmVerifier::check;
  }

  private static List<Object[]> load(String pack) throws Exception {
    List<Object[]> classes = new ArrayList<>();
    Pack.read(Path.of(pack), (name, bytes) -> classes.add(new Object[] {name, bytes}));
    return classes;
  }

  private static String fault(Verifier verifier, Object bytes) {
    try {
      return verifier.check((byte[]) bytes);
    } catch (Throwable error) {
      return error.toString();
    }
  }

  public static void main(String[] args) throws Exception {
    List<Object[]> rewritten = load(args[0]);
    List<Object[]> originals = load(args[1]);
    Verifier verifier = newVerifier();
    AtomicInteger known = new AtomicInteger();
    AtomicInteger unsupported = new AtomicInteger();
    List<Integer> indices = new ArrayList<>();
    for (int i = 0; i < rewritten.size(); ++i) indices.add(i);
    List<String> faults = Collections.synchronizedList(new ArrayList<>());
    indices.parallelStream().forEach(i -> {
      String fault = fault(verifier, rewritten.get(i)[1]);
      if (fault == null) return;
      if (fault.contains(UNSUPPORTED)) {
        unsupported.incrementAndGet();
      } else if (fault(verifier, originals.get(i)[1]) != null) {
        known.incrementAndGet();
      } else {
        faults.add(rewritten.get(i)[0] + ": " + fault);
      }
    });
    System.out.println(faults.stream().limit(20).collect(Collectors.joining("\n")));
    System.out.println("verified " + (rewritten.size() - unsupported.get()) + " unsupported "
        + unsupported + " faulty before " + known + " failed " + faults.size());
    // Classes whose supertypes are missing cannot be verified; if they are many, nothing is proved.
    boolean proved = rewritten.size() > 0 && known.get() * 5 < rewritten.size();
    System.exit(faults.isEmpty() && proved ? 0 : 1);
  }
}
