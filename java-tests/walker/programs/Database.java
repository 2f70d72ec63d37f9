import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Statement;

/** An in-memory H2 database at work: large, ordinary Java code. Argument: seconds. */
public class Database {
  static void fill(Connection connection) throws Exception {
    try (Statement statement = connection.createStatement();
        PreparedStatement insert =
            prepare(connection, statement, "insert into item values (?, ?, ?, ?)")) {
      for (int i = 0; i < 10_000; i++) {
        insert.setInt(1, i);
        insert.setInt(2, i % 97);
        insert.setBigDecimal(3, new BigDecimal(i % 1_000));
        insert.setString(4, "item " + i);
        insert.addBatch();
        if (i % 500 == 499) insert.executeBatch();
      }
    }
  }

  private static PreparedStatement prepare(Connection connection, Statement statement, String sql)
      throws Exception {
    statement.execute(
        "create table item (id int primary key, kind int, price decimal(10, 2), note varchar(99))");
    statement.execute("create index by_kind on item (kind)");
    return connection.prepareStatement(sql);
  }

  static long query(Connection connection) throws Exception {
    long rows = 0;
    try (Statement statement = connection.createStatement();
        ResultSet groups =
            statement.executeQuery(
                "select kind, count(*), sum(price), max(note) from item group by kind order by 3")) {
      while (groups.next()) rows++;
    }
    try (PreparedStatement find = connection.prepareStatement("select * from item where id = ?")) {
      for (int i = 0; i < 5_000; i++) {
        find.setInt(1, (i * 7919) % 10_000);
        try (ResultSet found = find.executeQuery()) {
          if (found.next()) rows += found.getString(4).length();
        }
      }
    }
    return rows;
  }

  public static void main(String[] args) throws Exception {
    long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000_000L;
    long rows = 0;
    for (int i = 0; System.nanoTime() < end; i++) {
      try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:t" + i)) {
        fill(connection);
        rows += query(connection);
      }
    }
    System.out.println("Database done " + (rows > 0));
  }
}
