-- The pairs of caller and callee with the most time, over all runs.
WITH ticks AS (
  SELECT DISTINCT run_id, CAST(interval_ns AS DECIMAL(38, 0)) AS tick_ns FROM runs
), sums AS (
  SELECT a.caller_id, a.callee_id,
         CAST(SUM(a.calls) AS BIGINT) AS calls,
         SUM(a.base_ticks * k.tick_ns) AS sampled_ns,
         SUM(a.cum_ticks * k.tick_ns) AS sampled_total_ns,
         CAST(SUM(a.base_ns) AS BIGINT) AS self_ns,
         CAST(SUM(a.cum_ns) AS BIGINT) AS total_ns,
         COUNT(DISTINCT a.run_id) AS runs
  FROM arcs a JOIN ticks k ON a.run_id = k.run_id
  GROUP BY a.caller_id, a.callee_id
), ranked AS (
  SELECT sums.*,
         ROW_NUMBER() OVER (ORDER BY COALESCE(sampled_total_ns, 0) DESC, COALESCE(total_ns, 0) DESC, calls DESC,
                                     callee_id, COALESCE(caller_id, 0)) AS place
  FROM sums
), chosen AS (
  SELECT ranked.* FROM ranked CROSS JOIN params WHERE place <= params.top
), names AS (
  SELECT w.routine_id, MIN(n.routine) AS routine
  FROM (SELECT caller_id AS routine_id FROM chosen UNION SELECT callee_id FROM chosen) w
    JOIN routines n ON w.routine_id = n.routine_id
  GROUP BY w.routine_id
)
SELECT c.place, c.calls,
       CAST(CASE WHEN c.sampled_ns > 9223372036854775807 THEN 9223372036854775807 ELSE c.sampled_ns END AS BIGINT)
         AS sampled_ns,
       CAST(CASE WHEN c.sampled_total_ns > 9223372036854775807 THEN 9223372036854775807
                 ELSE c.sampled_total_ns END AS BIGINT) AS sampled_total_ns,
       c.self_ns, c.total_ns, c.runs,
       COALESCE(f.routine, '[thread]') AS caller, t.routine AS callee
FROM chosen c JOIN names t ON c.callee_id = t.routine_id LEFT JOIN names f ON c.caller_id = f.routine_id
ORDER BY c.place
