-- What a call costs on each host: percentiles over the hosts, for the routines that cost most. Self time, by the clock
-- if a run has one, else sampled; a run that has neither is left out with its calls, and so is one that counts no calls.
WITH ticks AS (
  SELECT DISTINCT run_id, CASE WHEN mode = 'events' THEN NULL ELSE CAST(interval_ns AS DECIMAL(38, 0)) END AS tick_ns
  FROM runs
), per_run AS (
  SELECT a.callee_id AS routine_id, a.host, a.run_id,
         SUM(a.calls) AS calls,
         SUM(COALESCE(CAST(a.base_ns AS DECIMAL(38, 0)), a.base_ticks * k.tick_ns)) AS time_ns
  FROM arcs a JOIN ticks k ON a.run_id = k.run_id
  GROUP BY a.callee_id, a.host, a.run_id
), per_host AS (
  SELECT routine_id, host, SUM(calls) AS calls, SUM(time_ns) AS time_ns
  FROM per_run WHERE calls > 0 AND time_ns IS NOT NULL
  GROUP BY routine_id, host
), costs AS (
  SELECT routine_id, host, CAST(time_ns AS DOUBLE) / CAST(calls AS DOUBLE) AS ns_a_call
  FROM per_host
), ranked AS (
  SELECT routine_id, SUM(time_ns) AS time_ns,
         ROW_NUMBER() OVER (ORDER BY SUM(time_ns) DESC, routine_id) AS place
  FROM per_host
  GROUP BY routine_id
), chosen AS (
  SELECT ranked.routine_id, ranked.place FROM ranked CROSS JOIN params WHERE place <= params.top
), sums AS (
  SELECT c.place, c.routine_id, COUNT(*) AS hosts,
         percentile_cont(0.5) WITHIN GROUP (ORDER BY h.ns_a_call) AS p50,
         percentile_cont(0.9) WITHIN GROUP (ORDER BY h.ns_a_call) AS p90,
         percentile_cont(0.99) WITHIN GROUP (ORDER BY h.ns_a_call) AS p99,
         MAX(h.ns_a_call) AS greatest
  FROM chosen c JOIN costs h ON c.routine_id = h.routine_id
  GROUP BY c.place, c.routine_id
)
SELECT s.place, s.hosts, s.p50, s.p90, s.p99, s.greatest, MIN(n.routine) AS routine
FROM sums s JOIN routines n ON s.routine_id = n.routine_id
GROUP BY s.place, s.hosts, s.p50, s.p90, s.p99, s.greatest
ORDER BY s.place
