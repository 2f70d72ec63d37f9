-- Every path of a thread group with its sums over all runs, parents before children: the merged tree as a trace has it.
WITH sums AS (
  SELECT thread_group, path_hi, path_lo,
         CAST(SUM(calls) AS BIGINT) AS calls,
         CAST(SUM(calls_jitted) AS BIGINT) AS calls_jitted,
         CAST(SUM(base_ns) AS BIGINT) AS base_ns,
         CAST(SUM(off_ns) AS BIGINT) AS off_ns
  FROM nodes
  GROUP BY thread_group, path_hi, path_lo
), places AS (
  SELECT path_hi, path_lo, MIN(parent_hi) AS parent_hi, MIN(parent_lo) AS parent_lo, MIN(routine_id) AS routine_id,
         MIN(depth) AS depth
  FROM paths
  GROUP BY path_hi, path_lo
), names AS (
  SELECT routine_id, MIN(routine) AS routine, MIN(kind) AS kind, MAX(CASE WHEN probed THEN 1 ELSE 0 END) AS probed
  FROM routines
  GROUP BY routine_id
)
SELECT s.thread_group, s.path_hi, s.path_lo, p.parent_hi, p.parent_lo, p.depth, s.calls, s.calls_jitted, s.base_ns,
       s.off_ns, n.routine, n.kind, n.probed
FROM sums s JOIN places p ON s.path_hi = p.path_hi AND s.path_lo = p.path_lo
  LEFT JOIN names n ON p.routine_id = n.routine_id
ORDER BY p.depth, s.thread_group, s.path_hi, s.path_lo
