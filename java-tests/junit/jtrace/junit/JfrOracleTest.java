package jtrace.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * An independent count: JFR's method timing (JDK 25) in the same run, for methods of H2 that never
 * end with an exception, which JFR would miss.
 */
final class JfrOracleTest {
  private static final List<String> METHODS =
      List.of(
          "org.h2.value.ValueInteger::getInt",
          "org.h2.value.ValueInteger::getValueType",
          "org.h2.jdbc.JdbcPreparedStatement::setInt",
          "org.h2.jdbc.JdbcPreparedStatement::setString",
          "org.h2.jdbc.JdbcPreparedStatement::setBigDecimal",
          "org.h2.jdbc.JdbcPreparedStatement::addBatch",
          "org.h2.jdbc.JdbcPreparedStatement::executeBatch",
          "org.h2.jdbc.JdbcPreparedStatement::executeQuery",
          "org.h2.jdbc.JdbcResultSet::getString",
          "org.h2.command.CommandContainer::isQuery",
          "org.h2.command.query.Select::queryWithoutCache",
          "org.h2.mvstore.MVMap::getRoot",
          "org.h2.mvstore.MVMap::flushAndGetRoot",
          "org.h2.mvstore.tx.TransactionMap::getTransaction",
          "org.h2.mvstore.tx.Transaction::getId",
          "org.h2.engine.SessionLocal::getTrace",
          "org.h2.engine.SessionLocal::getMode",
          "org.h2.value.ValueVarchar::getValueType",
          "org.h2.expression.ExpressionColumn::getColumn",
          "org.h2.mvstore.MVMap::getStore",
          "org.h2.mvstore.Page::getKey",
          "org.h2.mvstore.Page::getKeyCount",
          "org.h2.engine.SessionLocal::getDatabase",
          "org.h2.engine.SessionLocal::isClosed",
          "org.h2.command.Prepared::getParameters",
          "org.h2.expression.Parameter::getValue",
          "org.h2.result.LocalResult::getRowCount",
          "org.h2.util.StringUtils::toUpperEnglish");
  private static final Pattern ROW = Pattern.compile("^\\s*(\\S+\\.\\S+\\([^)]*\\))\\s+([\\d,]+)\\s.*");

  @Test
  void jfrCountsTheSameInTheSameRun() {
    assumeTrue(Setup.JDK_MAJOR >= 25, "method timing came with JDK 25");
    Path recording = Jvm.temporary("recording", ".jfr");
    Jvm.Result run =
        new Jvm()
            .agent("mode=merged")
            .classpath("h2.jar")
            .arguments(
                "-XX:StartFlightRecording:filename=" + recording + ",method-timing="
                    + String.join(";", METHODS),
                "-Xlog:jfr*=off")
            .run("H2W", "1");
    assertEquals(0, run.exit(), run.err());
    Map<String, Long> jfr = jfrCounts(recording);
    assertTrue(jfr.size() >= 20, "JFR timed only " + jfr);
    Map<String, Long> ours = new TreeMap<>();
    Report flat = run.report("--report=flat");
    for (String method : jfr.keySet()) ours.put(method, callsOf(flat, method));
    assertEquals(jfr, ours);
  }

  /** Calls of all overloads: JFR's view prints them separately, so both sides add them by name. */
  private static long callsOf(Report flat, String method) {
    return flat.rows().stream()
        .filter(row -> row.get("name").startsWith(method + "("))
        .mapToLong(row -> Long.parseLong(row.get("calls")))
        .sum();
  }

  private static Map<String, Long> jfrCounts(Path recording) {
    Jvm.Result view =
        Jvm.execute(
            List.of(
                Setup.JDK.resolve("bin/jfr").toString(), "view", "--width", "250",
                "--cell-height", "1", "method-timing", recording.toString()),
            recording);
    Map<String, Long> counts = new TreeMap<>();
    for (String line : view.out().lines().toList()) {
      Matcher row = ROW.matcher(line);
      if (!row.matches()) continue;
      String name = row.group(1).substring(0, row.group(1).indexOf('('));
      long calls = Long.parseLong(row.group(2).replace(",", ""));
      if (calls > 0) counts.merge(name, calls, Long::sum);
    }
    return counts;
  }
}
