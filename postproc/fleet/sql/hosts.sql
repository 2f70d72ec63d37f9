-- Hosts on which a call of a routine costs unusually much: more than 3.5 times the median deviation above the median of
-- at least five hosts, and a tenth more than it. Of the routines that cost most.
-- A run that has neither a clock nor samples is left out with its calls, and so is one that counts no calls.
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
), ranked AS (
  SELECT routine_id, ROW_NUMBER() OVER (ORDER BY SUM(time_ns) DESC, routine_id) AS place
  FROM per_host
  GROUP BY routine_id
), costs AS (
  SELECT h.routine_id, h.host, h.calls, h.time_ns, CAST(h.time_ns AS DOUBLE) / CAST(h.calls AS DOUBLE) AS ns_a_call
  FROM per_host h JOIN ranked k ON h.routine_id = k.routine_id CROSS JOIN params
  WHERE k.place <= params.top
), medians AS (
  SELECT routine_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns_a_call) AS median_ns
  FROM costs GROUP BY routine_id HAVING COUNT(*) >= 5
), deviations AS (
  SELECT c.routine_id, percentile_cont(0.5) WITHIN GROUP (ORDER BY ABS(c.ns_a_call - m.median_ns)) AS deviation_ns
  FROM costs c JOIN medians m ON c.routine_id = m.routine_id
  GROUP BY c.routine_id
), outliers AS (
  SELECT c.host, c.routine_id, c.ns_a_call, m.median_ns, CAST(c.calls AS BIGINT) AS calls,
         (c.ns_a_call - m.median_ns) * CAST(c.calls AS DOUBLE) AS excess_ns
  FROM costs c JOIN medians m ON c.routine_id = m.routine_id JOIN deviations d ON c.routine_id = d.routine_id
  WHERE c.ns_a_call - m.median_ns > 3.5 * 1.4826 * d.deviation_ns AND c.ns_a_call > 1.1 * m.median_ns
)
SELECT o.host, o.ns_a_call, o.median_ns, o.excess_ns, o.calls, MIN(n.routine) AS routine
FROM outliers o JOIN routines n ON o.routine_id = n.routine_id
GROUP BY o.host, o.routine_id, o.ns_a_call, o.median_ns, o.excess_ns, o.calls
ORDER BY o.excess_ns DESC, o.host, routine
