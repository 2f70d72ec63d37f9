-- Samples over all runs, by path, state and the function that they interrupted. Weights are in ticks of the shortest
-- interval of any run.
WITH ticks AS (
  SELECT DISTINCT run_id, CAST(interval_ns AS DECIMAL(38, 0)) AS tick_ns FROM runs
), names AS (
  SELECT routine_id, MIN(routine) AS routine, MIN(owner) AS owner FROM routines GROUP BY routine_id
), shortest AS (
  SELECT MIN(interval_ns) AS interval_ns FROM runs
), sums AS (
  SELECT s.thread_group, s.path_hi, s.path_lo, s.state, s.function_id, s.module,
         SUM(CAST(s.ticks * k.tick_ns AS DOUBLE)) AS sampled_ns
  FROM samples s JOIN ticks k ON s.run_id = k.run_id
  GROUP BY s.thread_group, s.path_hi, s.path_lo, s.state, s.function_id, s.module
)
SELECT s.thread_group, s.path_hi, s.path_lo, s.state, n.routine AS function, n.owner, s.module,
       CAST(LEAST(ROUND(s.sampled_ns / CAST(h.interval_ns AS DOUBLE)), 9.0E18) AS BIGINT) AS ticks, h.interval_ns
FROM sums s CROSS JOIN shortest h LEFT JOIN names n ON s.function_id = n.routine_id
ORDER BY s.thread_group, s.path_hi, s.path_lo, s.state, function, s.module
