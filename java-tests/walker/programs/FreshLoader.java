import java.io.IOException;

/** Defines the classes whose names begin with a prefix anew, each loader its own. */
final class FreshLoader extends ClassLoader {
  private final String prefix;

  FreshLoader(String prefix) {
    super(FreshLoader.class.getClassLoader());
    this.prefix = prefix;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.startsWith(prefix)) return super.loadClass(name, resolve);
    try (var in = FreshLoader.class.getResourceAsStream(name + ".class")) {
      byte[] bytes = in.readAllBytes();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
