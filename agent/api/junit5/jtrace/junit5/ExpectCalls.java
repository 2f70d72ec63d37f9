package jtrace.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** How often methods are called while the test method runs. On a class it applies to each test. */
@Documented
@Inherited
@Repeatable(ExpectCalls.List.class)
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface ExpectCalls {
  /**
   * As in the agent's option {@code include=}: {@code com.acme.Cache::load}, {@code
   * org.h2.jdbc.**::execute*(String)}. The methods must have probes.
   */
  String method();

  long min() default 0;

  long max() default Long.MAX_VALUE;

  /** Several of them. */
  @Documented
  @Inherited
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    ExpectCalls[] value();
  }
}
