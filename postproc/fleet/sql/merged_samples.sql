-- Samples over all runs, by path, state and the function that they interrupted. Weights are in ticks of the shortest
-- interval of any run.
WITH names AS (
  SELECT routine_id, MIN(routine) AS routine, MIN(owner) AS owner FROM routines GROUP BY routine_id
), shortest AS (
  SELECT MIN(interval_ns) AS interval_ns FROM runs
), sums AS (
  SELECT s.thread_group, s.path_hi, s.path_lo, s.state, s.function_id, s.module,
         SUM(CAST(s.ticks * r.interval_ns AS DOUBLE)) AS sampled_ns
  FROM samples s JOIN runs r ON s.run_id = r.run_id
  GROUP BY s.thread_group, s.path_hi, s.path_lo, s.state, s.function_id, s.module
)
SELECT s.thread_group, s.path_hi, s.path_lo, s.state, n.routine AS function, n.owner, s.module,
       CAST(ROUND(s.sampled_ns / CAST(h.interval_ns AS DOUBLE)) AS BIGINT) AS ticks, h.interval_ns
FROM sums s CROSS JOIN shortest h LEFT JOIN names n ON s.function_id = n.routine_id
ORDER BY s.thread_group, s.path_hi, s.path_lo, s.state, function, s.module
