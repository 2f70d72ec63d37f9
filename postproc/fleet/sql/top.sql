-- The routines that cost most, over all runs: sampled self time, else the clock's, else calls.
-- Counts and times are exact sums; a routine's total is over its outermost activations.
WITH ticks AS (
  SELECT DISTINCT run_id, CAST(interval_ns AS DECIMAL(38, 0)) AS tick_ns FROM runs
), sums AS (
  SELECT a.callee_id AS routine_id,
         CAST(SUM(a.calls) AS BIGINT) AS calls,
         CAST(SUM(a.base_ticks) AS BIGINT) AS ticks,
         SUM(a.base_ticks * k.tick_ns) AS sampled_ns,
         SUM(CASE WHEN a.outermost THEN a.cum_ticks * k.tick_ns END) AS sampled_total_ns,
         CAST(SUM(a.base_ns) AS BIGINT) AS self_ns,
         CAST(SUM(CASE WHEN a.outermost THEN a.cum_ns END) AS BIGINT) AS total_ns,
         COUNT(DISTINCT a.run_id) AS runs,
         COUNT(DISTINCT a.host) AS hosts
  FROM arcs a JOIN ticks k ON a.run_id = k.run_id
  GROUP BY a.callee_id
), ranked AS (
  SELECT sums.*,
         ROW_NUMBER() OVER (ORDER BY COALESCE(sampled_ns, 0) DESC, COALESCE(self_ns, 0) DESC, calls DESC,
                                     routine_id) AS place
  FROM sums
), chosen AS (
  SELECT ranked.* FROM ranked CROSS JOIN params WHERE place <= params.top
)
SELECT c.place, c.calls, c.ticks,
       CAST(CASE WHEN c.sampled_ns > 9223372036854775807 THEN 9223372036854775807 ELSE c.sampled_ns END AS BIGINT)
         AS sampled_ns,
       CAST(CASE WHEN c.sampled_total_ns > 9223372036854775807 THEN 9223372036854775807
                 ELSE c.sampled_total_ns END AS BIGINT) AS sampled_total_ns,
       c.self_ns, c.total_ns, c.runs, c.hosts,
       MIN(n.routine) AS routine
FROM chosen c JOIN routines n ON c.routine_id = n.routine_id
GROUP BY c.place, c.calls, c.ticks, c.sampled_ns, c.sampled_total_ns, c.self_ns, c.total_ns, c.runs, c.hosts
ORDER BY c.place
