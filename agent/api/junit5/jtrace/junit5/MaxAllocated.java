package jtrace.junit5;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The most that the test method may allocate on the heap: {@code "0"}, {@code "500 B"}, {@code "2
 * KiB"}, {@code "1.5 MB"}. On a class it applies to each of its test methods without their own
 * limit.
 */
@Documented
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface MaxAllocated {
  String value();
}
