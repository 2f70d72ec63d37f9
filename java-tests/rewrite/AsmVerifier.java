import java.io.PrintWriter;
import java.io.StringWriter;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.util.CheckClassAdapter;

/** ASM's data-flow verifier. */
final class AsmVerifier {
  private AsmVerifier() {}

  static String check(byte[] bytes) {
    StringWriter text = new StringWriter();
    CheckClassAdapter.verify(new ClassReader(bytes), false, new PrintWriter(text));
    return text.toString().isEmpty() ? null : text.toString().lines().findFirst().get();
  }
}
