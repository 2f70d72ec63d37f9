package jtrace.junit5;

import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import jtrace.api.JTrace;
import jtrace.api.Measurement;
import jtrace.api.Scope;
import jtrace.api.Window;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.platform.commons.support.ReflectionSupport;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Measures test methods with the jtrace agent of this JVM and checks {@link MaxAllocated}, {@link
 * MaxCpu} and {@link ExpectCalls}; a {@link Measurement} parameter has the counts since the method
 * began. Only the method itself is measured, not the code before and after each test. Dynamic tests
 * ({@code @TestFactory}) are not measured.
 *
 * <p>Settings, as JUnit configuration parameters or system properties:
 *
 * <ul>
 *   <li>{@code jtrace.missing}: {@code skip} (the default) or {@code fail} tests that need the
 *       agent if there is none
 *   <li>{@code jtrace.traces}: a folder that gets a copy of the trace of each test that exceeds a limit
 * </ul>
 */
public final class JTraceExtension implements InvocationInterceptor, ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(JTraceExtension.class);

  /** Methods that have run in this JVM. */
  private static final Set<Method> MEASURED = ConcurrentHashMap.newKeySet();

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    // Only test methods are measured; the code around them would share one window, or have none.
    return parameter.getParameter().getType() == Measurement.class
        && context.getTestMethod().filter(parameter.getDeclaringExecutable()::equals).isPresent();
  }

  /** Opens a new window when the method begins. */
  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return held(context).measurement();
  }

  @Override
  public void interceptTestMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    measure(invocation, method, context);
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    measure(invocation, method, context);
  }

  /** Dynamic tests run after the method has returned. */
  @Override
  public <T> T interceptTestFactoryMethod(
      Invocation<T> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    TestMethod test = new TestMethod(method.getExecutable(), method.getTargetClass());
    if (test.hasLimitsOfItsOwn()) {
      throw new ExtensionConfigurationException(
          test.name() + " makes dynamic tests, which jtrace does not measure; use @Test or"
              + " @ParameterizedTest");
    }
    return invocation.proceed();
  }

  private void measure(
      Invocation<Void> invocation,
      ReflectiveInvocationContext<Method> method,
      ExtensionContext context)
      throws Throwable {
    TestMethod test = new TestMethod(method.getExecutable(), method.getTargetClass());
    if (!test.isMeasured()) {
      invocation.proceed();
      return;
    }
    requireAgent(context);
    Held held = held(context);
    warmUp(test, method, held);
    try (Window window = held.open(scopeOf(test))) {
      boolean isFirst = MEASURED.add(method.getExecutable()) && warmups(test) == 0;
      invocation.proceed();
      new Limits(test, scopeOf(test), window, isFirst, () -> keepTrace(test, context)).check();
    }
  }

  private static Scope scopeOf(TestMethod test) {
    return test.find(JTraceScope.class).map(JTraceScope::value).orElse(Scope.THREAD);
  }

  private static int warmups(TestMethod test) {
    return test.find(Warmup.class).map(Warmup::value).orElse(0);
  }

  private static void warmUp(
      TestMethod test, ReflectiveInvocationContext<Method> method, Held held) {
    int times = warmups(test);
    Object[] arguments = method.getArguments().toArray();
    for (int i = 0; i < times; i++) {
      held.open(scopeOf(test));
      try {
        ReflectionSupport.invokeMethod(
            method.getExecutable(), method.getTarget().orElse(null), arguments);
      } finally {
        held.window.close();
      }
    }
  }

  private static void requireAgent(ExtensionContext context) {
    if (JTrace.isActive()) return;
    String how = context.getConfigurationParameter("jtrace.missing").orElse("skip");
    String message =
        "the jtrace agent is not in this JVM; start it with"
            + " -agentpath:/path/to/libjtrace.so=metrics=alloc.bytes";
    switch (how) {
      case "skip":
        throw new TestAbortedException(message);
      case "fail":
        throw new AssertionFailedError(message);
      default:
        throw new IllegalArgumentException("jtrace.missing=" + how + " is neither skip nor fail");
    }
  }

  /** Returns its path. */
  private static String keepTrace(TestMethod test, ExtensionContext context) {
    return context
        .getConfigurationParameter("jtrace.traces")
        .map(
            folder -> {
              Path copy = Path.of(folder, test.fileName() + invocation(context) + ".bin").toAbsolutePath();
              copy.getParent().toFile().mkdirs();
              JTrace.dump(copy);
              return copy.toString();
            })
        .orElseGet(() -> JTrace.dump().map(Path::toString).orElse("none"));
  }

  /** {@code .2} for the second invocation of a test template; empty: there is only one. */
  private static String invocation(ExtensionContext context) {
    String id = context.getUniqueId();
    int number = id.lastIndexOf("[test-template-invocation:#");
    return number < 0 ? "" : "." + id.substring(id.indexOf('#', number) + 1, id.indexOf(']', number));
  }

  private static Held held(ExtensionContext context) {
    return context.getStore(NAMESPACE).getOrComputeIfAbsent("held", key -> new Held(), Held.class);
  }

  /** A test's window, which its parameter refers to before it is open. */
  private static final class Held {
    private Window window;

    Window open(Scope scope) {
      window = JTrace.window(scope, Limits.metrics());
      return window;
    }

    Measurement measurement() {
      return Measurement.live(() -> window.measurement());
    }
  }
}
