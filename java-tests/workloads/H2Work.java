import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A database in memory: deep, branchy, allocating code of a real library (about 10^8 calls). */
public class H2Work {
  private static final int ORDERS = 40_000;
  private static final int CUSTOMERS = 997;

  private static void fill(Connection db) throws SQLException {
    try (Statement s = db.createStatement()) {
      s.execute("create table orders(id int primary key, customer int, amount decimal(10, 2),"
          + " note varchar(100))");
      s.execute("create index by_customer on orders(customer)");
      s.execute("create table customers(id int primary key, name varchar(50))");
    }
    try (PreparedStatement p = db.prepareStatement("insert into orders values(?, ?, ?, ?)")) {
      for (int i = 0; i < ORDERS; i++) {
        p.setInt(1, i);
        p.setInt(2, i % CUSTOMERS);
        p.setBigDecimal(3, new BigDecimal(i % 1000));
        p.setString(4, "note " + i);
        p.addBatch();
        if (i % 1000 == 999) {
          p.executeBatch();
        }
      }
    }
    try (PreparedStatement p = db.prepareStatement("insert into customers values(?, ?)")) {
      for (int i = 0; i < CUSTOMERS; i++) {
        p.setInt(1, i);
        p.setString(2, "c" + i);
        p.execute();
      }
    }
  }

  private static long query(Connection db) throws SQLException {
    long rows = 0;
    try (Statement s = db.createStatement()) {
      for (int i = 0; i < 6; i++) {
        ResultSet r = s.executeQuery("select c.name, count(*), sum(o.amount), max(o.note)"
            + " from orders o join customers c on o.customer = c.id where o.amount > " + i * 10
            + " group by c.name order by 3 desc");
        while (r.next()) {
          rows++;
        }
      }
    }
    try (PreparedStatement p = db.prepareStatement("select * from orders where id = ?")) {
      for (int i = 0; i < 30_000; i++) {
        p.setInt(1, (int) (i * 7919L % ORDERS));
        ResultSet r = p.executeQuery();
        r.next();
        rows += r.getString(4).length();
      }
    }
    return rows;
  }

  private static void work(int rounds, String name) throws SQLException {
    for (int round = rounds; round > 0; round--) {
      long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      try (Connection db = DriverManager.getConnection("jdbc:h2:mem:" + name + round)) {
        fill(db);
        if (query(db) == 0) {
          throw new AssertionError("empty database");
        }
      }
      long end = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
      System.out.printf("%.1f%n", (end - start) / 1e6);
    }
  }

  /**
   * Arguments: rounds, then threads, each with a database of its own. Prints CPU milliseconds, a
   * line for each round of a thread.
   */
  public static void main(String[] args) throws SQLException {
    int rounds = Integer.parseInt(args[0]);
    for (int i = args.length == 1 ? 1 : Integer.parseInt(args[1]); i > 1; i--) {
      String name = "t" + i + "r";
      new Thread(() -> {
        try {
          work(rounds, name);
        } catch (SQLException e) {
          throw new AssertionError(e);
        }
      }).start();
    }
    work(rounds, "r");
  }
}
