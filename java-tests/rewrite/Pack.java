import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;

/**
 * Packs of class files, the input and output of jtrace-rewrite: u4 name length, name, u4 size,
 * bytes. Names of JDK classes begin with their module ("java.base/java/lang/Object.class").
 */
final class Pack {
  interface Visitor {
    void visit(String name, byte[] bytes) throws IOException;
  }

  private Pack() {}

  static void read(Path pack, Visitor visitor) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(pack), 1 << 20))) {
      for (; ; ) {
        int length;
        try {
          length = in.readInt();
        } catch (EOFException end) {
          return;
        }
        String name = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        visitor.visit(name, in.readNBytes(in.readInt()));
      }
    }
  }

  private static void write(DataOutputStream out, String name, byte[] bytes) throws IOException {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    out.writeInt(text.length);
    out.write(text);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static void addTree(Path root, DataOutputStream out) throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.walk(root)) {
      all.filter(p -> p.toString().endsWith(".class")).forEach(files::add);
    }
    for (Path file : files) {
      String name = root.relativize(file).toString();
      if (name.startsWith("META-INF/") || name.endsWith("module-info.class")) continue;
      write(out, name, Files.readAllBytes(file));
    }
  }

  /** {@code extract OUT.pack [JAR...]}: the running JDK's module image, or the jars. */
  private static void extract(Path pack, List<String> jars) throws IOException {
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(pack), 1 << 20))) {
      if (jars.isEmpty()) {
        addTree(FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules"), out);
      }
      for (String jar : jars) {
        try (FileSystem fs = FileSystems.newFileSystem(Path.of(jar), (ClassLoader) null)) {
          addTree(fs.getPath("/"), out);
        }
      }
    }
  }

  /** {@code jars IN.pack DIR STUB}: one jar a module; java.base also gets the classes of STUB. */
  private static void jars(Path pack, Path directory, Path stub) throws IOException {
    Map<String, JarOutputStream> jars = new TreeMap<>();
    Files.createDirectories(directory);
    read(pack, (name, bytes) -> {
      int slash = name.indexOf('/');
      String module = name.substring(0, slash);
      JarOutputStream jar = jars.get(module);
      if (jar == null) {
        jar = open(directory.resolve(module + ".jar"));
        jars.put(module, jar);
      }
      store(jar, name.substring(slash + 1), bytes);
    });
    for (String name : List.of("JTraceProbe", "JTraceBlocks")) {
      String file = "java/lang/invoke/" + name + ".class";
      store(jars.get("java.base"), file, Files.readAllBytes(stub.resolve(file)));
    }
    for (JarOutputStream jar : jars.values()) jar.close();
  }

  private static JarOutputStream open(Path path) throws IOException {
    OutputStream file = new BufferedOutputStream(Files.newOutputStream(path), 1 << 20);
    return new JarOutputStream(file);
  }

  private static void store(JarOutputStream jar, String name, byte[] bytes) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    ZipEntry entry = new ZipEntry(name);
    entry.setMethod(ZipEntry.STORED);
    entry.setSize(bytes.length);
    entry.setCrc(crc.getValue());
    jar.putNextEntry(entry);
    jar.write(bytes);
    jar.closeEntry();
  }

  public static void main(String[] args) throws IOException {
    if (args[0].equals("extract")) {
      extract(Path.of(args[1]), List.of(args).subList(2, args.length));
    } else {
      jars(Path.of(args[1]), Path.of(args[2]), Path.of(args[3]));
    }
  }
}
