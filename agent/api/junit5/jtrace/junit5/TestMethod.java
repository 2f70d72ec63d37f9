package jtrace.junit5;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.platform.commons.support.AnnotationSupport;

/** A test method and its annotations, from the method or else the innermost class around it. */
final class TestMethod {
  private final Method method;
  private final Class<?> testClass;

  TestMethod(Method method, Class<?> testClass) {
    this.method = method;
    this.testClass = testClass;
  }

  <A extends Annotation> Optional<A> find(Class<A> type) {
    Optional<A> own = AnnotationSupport.findAnnotation(method, type);
    for (Class<?> at = testClass; own.isEmpty() && at != null; at = at.getEnclosingClass()) {
      own = AnnotationSupport.findAnnotation(at, type);
    }
    return own;
  }

  /** Those of the class apply in addition to those of the method. */
  List<ExpectCalls> expectedCalls() {
    List<ExpectCalls> all =
        new java.util.ArrayList<>(
            AnnotationSupport.findRepeatableAnnotations(method, ExpectCalls.class));
    for (Class<?> at = testClass; at != null; at = at.getEnclosingClass()) {
      all.addAll(AnnotationSupport.findRepeatableAnnotations(at, ExpectCalls.class));
    }
    return all;
  }

  boolean hasLimitsOfItsOwn() {
    return AnnotationSupport.isAnnotated(method, MaxAllocated.class)
        || AnnotationSupport.isAnnotated(method, MaxCpu.class)
        || !AnnotationSupport.findRepeatableAnnotations(method, ExpectCalls.class).isEmpty();
  }

  boolean isMeasured() {
    return find(MaxAllocated.class).isPresent()
        || find(MaxCpu.class).isPresent()
        || !expectedCalls().isEmpty()
        || Arrays.asList(method.getParameterTypes()).contains(jtrace.api.Measurement.class);
  }

  /** For people. */
  String name() {
    return testClass.getSimpleName() + "." + method.getName() + "()";
  }

  /** For files: unique, except for tests of the same name with other parameters. */
  String fileName() {
    return testClass.getName() + "." + method.getName();
  }

  String className() {
    return method.getDeclaringClass().getName();
  }

  ClassLoader loader() {
    return testClass.getClassLoader();
  }

  /** In the form of {@link jtrace.api.JTrace#method}. */
  String pattern() {
    String parameters =
        Arrays.stream(method.getParameterTypes())
            .map(Class::getTypeName)
            .collect(Collectors.joining(",", "(", ")"));
    // Names of other languages may have characters that patterns do not.
    String name = method.getName().replaceAll("[^\\p{L}\\p{N}_$-]", "*");
    return className() + "::" + name + parameters;
  }
}
