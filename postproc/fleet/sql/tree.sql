-- The call trees of all runs as one, without thread groups: paths with at least the wanted share of the whole. A row's
-- parent is the row whose path is parent_hi, parent_lo.
WITH ticks AS (
  SELECT DISTINCT run_id, CAST(interval_ns AS DECIMAL(38, 0)) AS tick_ns FROM runs
), sums AS (
  SELECT m.path_hi, m.path_lo,
         CAST(SUM(m.calls) AS BIGINT) AS calls,
         SUM(m.base_ticks * k.tick_ns) AS sampled_ns,
         SUM(m.cum_ticks * k.tick_ns) AS sampled_total_ns,
         CAST(SUM(m.base_ns) AS BIGINT) AS self_ns,
         CAST(SUM(m.cum_ns) AS BIGINT) AS total_ns,
         COUNT(DISTINCT m.run_id) AS runs
  FROM nodes m JOIN ticks k ON m.run_id = k.run_id
  GROUP BY m.path_hi, m.path_lo
), whole AS (
  SELECT MAX(COALESCE(sampled_total_ns, 0)) AS sampled, MAX(COALESCE(total_ns, 0)) AS timed FROM sums
), chosen AS (
  SELECT sums.*
  FROM sums CROSS JOIN whole CROSS JOIN params
  WHERE CASE WHEN whole.sampled > 0
               THEN CAST(sampled_total_ns AS DOUBLE) * 100 >= params.percent * CAST(whole.sampled AS DOUBLE)
             WHEN whole.timed > 0 THEN CAST(total_ns AS DOUBLE) * 100 >= params.percent * whole.timed
             ELSE TRUE END
), places AS (
  SELECT c.path_hi, c.path_lo, MIN(p.parent_hi) AS parent_hi, MIN(p.parent_lo) AS parent_lo,
         MIN(p.routine_id) AS routine_id, MIN(p.depth) AS depth
  FROM chosen c JOIN paths p ON c.path_hi = p.path_hi AND c.path_lo = p.path_lo
  GROUP BY c.path_hi, c.path_lo
), names AS (
  SELECT p.routine_id, MIN(n.routine) AS routine
  FROM (SELECT DISTINCT routine_id FROM places) p JOIN routines n ON p.routine_id = n.routine_id
  GROUP BY p.routine_id
)
SELECT c.path_hi, c.path_lo, p.parent_hi, p.parent_lo, p.depth, c.calls,
       CAST(CASE WHEN c.sampled_ns > 9223372036854775807 THEN 9223372036854775807 ELSE c.sampled_ns END AS BIGINT)
         AS sampled_ns,
       CAST(CASE WHEN c.sampled_total_ns > 9223372036854775807 THEN 9223372036854775807
                 ELSE c.sampled_total_ns END AS BIGINT) AS sampled_total_ns,
       c.self_ns, c.total_ns, c.runs, COALESCE(n.routine, '[all threads]') AS routine
FROM chosen c JOIN places p ON c.path_hi = p.path_hi AND c.path_lo = p.path_lo
  LEFT JOIN names n ON p.routine_id = n.routine_id
ORDER BY p.depth, COALESCE(c.sampled_total_ns, 0) DESC, COALESCE(c.total_ns, 0) DESC, c.calls DESC, c.path_hi, c.path_lo
