package jtrace.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The most processor time that the test method may take: {@code "5 ms"}, {@code "1.5 s"}, {@code
 * "200 us"}. On a class it applies to each of its test methods without their own limit.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface MaxCpu {
  String value();
}
