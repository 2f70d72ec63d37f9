package agents;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassDefinition;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjLongConsumer;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * A second agent that rewrites the same classes: counts every entry of their methods. Its options
 * are commands, run one after the other, separated by '|':
 *
 * <pre>
 * on PREFIX…      puts counters into classes whose names begin so, loaded or not
 * arcs PREFIX…    the same, but counts each method's entries by caller
 * off             removes them
 * redefine CLASS  puts the counters in by redefinition, not by a transformer
 * retransform PREFIX MS SEED    random classes with this prefix, with pauses, 1,000 times at most
 * redefine-some PREFIX MS SEED  the same by redefinition with their original files
 * forks MS        starts short processes, with pauses, until the end
 * spoil CLASS     makes the JVM refuse the class when it is retransformed
 * out FILE        at the program's end writes "COUNT NAME" of each method to FILE, then
 *                 "COUNT CALLER NAME" of each arc
 * write FILE      the same, now
 * lines PREFIX…   counts each instruction and branch of classes that are loaded later, before other
 *                 agents see them: see InstructionProbes
 * lines-out FILE  at the program's end writes these counts by line
 * </pre>
 */
public final class CountingAgent {
  /** Of the low byte of a class file's major version (JVMS 4.1). */
  private static final int MAJOR = 7;

  private static final int KNOWN = Opcodes.V17;

  private static Counters transformer;
  // Each load of the agent has its own instance; only the one that added a transformer removes it.
  private static Instrumentation home;

  private CountingAgent() {}

  public static void premain(String options, Instrumentation instrumentation) throws Exception {
    for (String command : options.split("\\|")) run(command.split(" "), instrumentation);
  }

  public static void agentmain(String options, Instrumentation instrumentation) throws Exception {
    premain(options, instrumentation);
  }

  private static void run(String[] words, Instrumentation instrumentation) throws Exception {
    switch (words[0]) {
      case "on":
      case "arcs":
        Probes kind = words[0].equals("arcs") ? Probes.ARCS : Probes.ENTRIES;
        transformer = new Counters(List.of(words).subList(1, words.length), kind);
        home = instrumentation;
        home.addTransformer(transformer, true);
        retransform(home);
        break;
      case "off":
        home.removeTransformer(transformer);
        retransform(home);
        break;
      case "redefine":
        redefine(Class.forName(words[1], false, ClassLoader.getSystemClassLoader()), instrumentation);
        break;
      case "retransform":
        Unrest.retransform(
            instrumentation, words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
        break;
      case "redefine-some":
        Unrest.redefine(
            instrumentation, words[1], Long.parseLong(words[2]), Long.parseLong(words[3]));
        break;
      case "forks":
        Unrest.fork(Long.parseLong(words[1]));
        break;
      case "spoil":
        instrumentation.addTransformer(new Spoiler(words[1].replace('.', '/')), true);
        break;
      case "lines":
        // Not one that may retransform: those run later.
        instrumentation.addTransformer(
            new Counters(List.of(words).subList(1, words.length), Probes.INSTRUCTIONS), false);
        break;
      case "lines-out":
        Runtime.getRuntime()
            .addShutdownHook(new Thread(() -> writeLines(words[1]), "counting agent"));
        break;
      case "out":
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(words[1]), "counting agent"));
        break;
      case "write":
        write(words[1]);
        break;
      default:
        throw new IllegalArgumentException(words[0]);
    }
  }

  private static void retransform(Instrumentation instrumentation) throws Exception {
    List<Class<?>> classes = new ArrayList<>();
    for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
      boolean wanted = transformer.wants(loaded.getName().replace('.', '/'));
      if (wanted && instrumentation.isModifiableClass(loaded)) classes.add(loaded);
    }
    if (!classes.isEmpty()) instrumentation.retransformClasses(classes.toArray(Class<?>[]::new));
  }

  private static void redefine(Class<?> type, Instrumentation instrumentation) throws Exception {
    String file = type.getName().replace('.', '/') + ".class";
    try (InputStream bytes = ClassLoader.getSystemResourceAsStream(file)) {
      instrumentation.redefineClasses(new ClassDefinition(type, count(bytes.readAllBytes(), Probes.ENTRIES)));
    }
  }

  private static void write(String file) {
    try (PrintStream out = new PrintStream(file, "UTF-8")) {
      ObjLongConsumer<String> print = (name, count) -> out.println(count + " " + name);
      Counts.forEach(print);
      Arcs.forEach(print);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The program's own hooks run at the same time: when they have counted nothing for a while. */
  private static void writeLines(String file) {
    for (long before = -1, now = Lines.total(); now != before; now = Lines.total()) {
      before = now;
      try {
        Thread.sleep(300);
      } catch (InterruptedException e) {
        return;
      }
    }
    try (PrintStream out = new PrintStream(file, "UTF-8")) {
      Lines.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private enum Probes {
    ENTRIES,
    ARCS,
    INSTRUCTIONS
  }

  /**
   * ASM rejects versions that are newer than it is. It reads these as an older one, since no newer
   * version changed anything that is rewritten here.
   */
  private static byte[] count(byte[] classFile, Probes kind) {
    int version = classFile[MAJOR] & 0xff;
    if (version <= KNOWN) return countKnown(classFile, kind);
    byte[] older = classFile.clone();
    older[MAJOR] = KNOWN;
    byte[] counted = countKnown(older, kind);
    counted[MAJOR] = (byte) version;
    return counted;
  }

  private static byte[] countKnown(byte[] classFile, Probes kind) {
    ClassReader reader = new ClassReader(classFile);
    ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
    reader.accept(
        new ClassVisitor(Opcodes.ASM9, writer) {
          @Override
          public MethodVisitor visitMethod(
              int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next =
                super.visitMethod(access, name, descriptor, signature, exceptions);
            String method = reader.getClassName() + "." + name + descriptor;
            switch (kind) {
              case ARCS:
                return new ArcProbes(next, reader.getClassName(), access, name, descriptor);
              case INSTRUCTIONS:
                return new InstructionProbes(
                    next, reader.getClassName(), access, name, descriptor);
              default:
                return new EntryCounter(next, method);
            }
          }
        },
        kind == Probes.ENTRIES ? 0 : ClassReader.EXPAND_FRAMES);
    return writer.toByteArray();
  }

  private static final class Counters implements ClassFileTransformer {
    private final List<String> prefixes;
    private final Probes kind;

    Counters(List<String> prefixes, Probes kind) {
      this.prefixes = prefixes;
      this.kind = kind;
    }

    boolean wants(String name) {
      if (name == null) return false;
      // No stream: a transformer must not need classes that it would have to transform.
      for (int i = 0; i < prefixes.size(); i++) {
        if (name.startsWith(prefixes.get(i))) return true;
      }
      return false;
    }

    @Override
    public byte[] transform(
        ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] classFile) {
      try {
        return wants(name) ? count(classFile, kind) : null;
      } catch (RuntimeException | Error e) {
        e.printStackTrace(); // the JVM would silently leave the class as it is
        throw e;
      }
    }
  }

  /** Adds a method, which the JVM does not allow for a loaded class. */
  private static final class Spoiler implements ClassFileTransformer {
    private final String target;

    Spoiler(String target) {
      this.target = target;
    }

    @Override
    public byte[] transform(
        ClassLoader loader, String name, Class<?> type, ProtectionDomain domain, byte[] classFile) {
      if (type == null || !target.equals(name)) return null;
      ClassReader reader = new ClassReader(classFile);
      ClassWriter writer = new ClassWriter(reader, 0);
      reader.accept(writer, 0);
      int flags = Opcodes.ACC_PUBLIC | Opcodes.ACC_ABSTRACT;
      writer.visitMethod(flags, "spoiled", "()V", null, null).visitEnd();
      return writer.toByteArray();
    }
  }

  private static final class EntryCounter extends MethodVisitor {
    private final String name;

    EntryCounter(MethodVisitor next, String name) {
      super(Opcodes.ASM9, next);
      this.name = name;
    }

    @Override
    public void visitCode() {
      super.visitCode();
      super.visitLdcInsn(Counts.idOf(name));
      super.visitMethodInsn(Opcodes.INVOKESTATIC, "agents/Counts", "count", "(I)V", false);
    }
  }
}
