-- Every routine with its sums over all runs: what the flat lists of the single runs add up to.
WITH sums AS (
  SELECT callee_id AS routine_id,
         CAST(SUM(calls) AS BIGINT) AS calls,
         CAST(SUM(calls_jitted) AS BIGINT) AS calls_jitted,
         CAST(SUM(base_ns) AS BIGINT) AS base_ns,
         CAST(SUM(CASE WHEN outermost THEN cum_ns END) AS BIGINT) AS cum_ns,
         CAST(SUM(cum_ns) AS BIGINT) AS cum2_ns,
         CAST(SUM(base_ticks) AS BIGINT) AS base_ticks,
         CAST(SUM(CASE WHEN outermost THEN cum_ticks ELSE 0 END) AS BIGINT) AS cum_ticks,
         CAST(SUM(cum_ticks) AS BIGINT) AS cum2_ticks
  FROM arcs
  GROUP BY callee_id
), names AS (
  SELECT routine_id, MIN(routine) AS routine, MIN(descriptor) AS descriptor FROM routines GROUP BY routine_id
)
SELECT n.routine, n.descriptor, s.calls, s.calls_jitted, s.base_ns, s.cum_ns, s.cum2_ns, s.base_ticks, s.cum_ticks,
       s.cum2_ticks, s.routine_id
FROM sums s JOIN names n ON s.routine_id = n.routine_id
ORDER BY s.calls DESC, n.routine, s.routine_id
