-- What must hold of every folder: each row counts what is broken. The arc flow's four sums of arcs are those of nodes.
WITH places AS (
  SELECT path_hi, path_lo, MIN(routine_id) AS routine_id, MIN(parent_hi) AS parent_hi, MIN(parent_lo) AS parent_lo,
         MIN(level) AS level
  FROM paths GROUP BY path_hi, path_lo
), by_node AS (
  SELECT p.routine_id,
         SUM(m.calls) AS calls, SUM(m.base_ticks) AS base_ticks, SUM(COALESCE(m.base_ns, 0)) AS base,
         SUM(CASE WHEN p.level = 1 THEN m.cum_ticks ELSE 0 END) AS cum_ticks,
         SUM(CASE WHEN p.level = 1 THEN COALESCE(m.cum_ns, 0) ELSE 0 END) AS cum,
         SUM(m.cum_ticks) AS cum2_ticks, SUM(COALESCE(m.cum_ns, 0)) AS cum2
  FROM nodes m JOIN places p ON m.path_hi = p.path_hi AND m.path_lo = p.path_lo
  WHERE p.routine_id IS NOT NULL
  GROUP BY p.routine_id
), callers AS (
  SELECT callee_id AS routine_id,
         SUM(calls) AS calls, SUM(base_ticks) AS base_ticks, SUM(COALESCE(base_ns, 0)) AS base,
         SUM(CASE WHEN outermost THEN cum_ticks ELSE 0 END) AS cum_ticks,
         SUM(CASE WHEN outermost THEN COALESCE(cum_ns, 0) ELSE 0 END) AS cum,
         SUM(cum_ticks) AS cum2_ticks, SUM(COALESCE(cum_ns, 0)) AS cum2
  FROM arcs GROUP BY callee_id
), callees AS (
  SELECT caller_id AS routine_id, SUM(cum_ticks) AS cum_ticks, SUM(COALESCE(cum_ns, 0)) AS cum
  FROM arcs WHERE caller_id IS NOT NULL GROUP BY caller_id
), flow AS (
  SELECT n.routine_id,
         CASE WHEN n.calls = COALESCE(i.calls, 0) THEN 0 ELSE 1 END AS calls,
         CASE WHEN n.base = COALESCE(i.base, 0) AND n.base_ticks = COALESCE(i.base_ticks, 0) THEN 0 ELSE 1 END AS base,
         CASE WHEN n.cum = COALESCE(i.cum, 0) AND n.cum_ticks = COALESCE(i.cum_ticks, 0)
                AND n.cum2 = COALESCE(i.cum2, 0) AND n.cum2_ticks = COALESCE(i.cum2_ticks, 0) THEN 0 ELSE 1 END AS cum,
         CASE WHEN n.cum2 - n.base = COALESCE(o.cum, 0) AND n.cum2_ticks - n.base_ticks = COALESCE(o.cum_ticks, 0)
              THEN 0 ELSE 1 END AS below
  FROM by_node n LEFT JOIN callers i ON n.routine_id = i.routine_id LEFT JOIN callees o ON n.routine_id = o.routine_id
)
SELECT 1 AS number, 'calls of callers = calls of the routine' AS holds,
       CAST(COUNT(*) AS BIGINT) AS checked, CAST(COALESCE(SUM(calls), 0) AS BIGINT) AS broken FROM flow
UNION ALL SELECT 2, 'self of callers = self of the routine', COUNT(*), CAST(COALESCE(SUM(base), 0) AS BIGINT) FROM flow
UNION ALL SELECT 3, 'total of callers = total of the routine', COUNT(*), CAST(COALESCE(SUM(cum), 0) AS BIGINT) FROM flow
UNION ALL SELECT 4, 'total of callees = total less self', COUNT(*), CAST(COALESCE(SUM(below), 0) AS BIGINT) FROM flow
UNION ALL SELECT 5, 'a run is in one file', COUNT(*), CAST(COALESCE(SUM(CASE WHEN files > 1 THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT run_id, COUNT(*) AS files FROM runs GROUP BY run_id) r
UNION ALL SELECT 6, 'a path has one parent and routine', COUNT(*),
       CAST(COALESCE(SUM(CASE WHEN meanings > 1 THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT path_hi, path_lo, COUNT(*) AS meanings
        FROM (SELECT DISTINCT path_hi, path_lo, parent_hi, parent_lo, routine_id FROM paths) d
        GROUP BY path_hi, path_lo) p
UNION ALL SELECT 7, 'a routine has one name and descriptor', COUNT(*),
       CAST(COALESCE(SUM(CASE WHEN meanings > 1 THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT routine_id, COUNT(*) AS meanings
        FROM (SELECT DISTINCT routine_id, class, method, descriptor FROM routines) d
        GROUP BY routine_id) n
UNION ALL SELECT 8, 'a node has a path, and a path a routine', COUNT(*),
       CAST(COALESCE(SUM(CASE WHEN p.path_hi IS NULL OR (p.parent_hi IS NOT NULL AND n.routine_id IS NULL)
                              THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT DISTINCT path_hi, path_lo FROM nodes) m
    LEFT JOIN places p ON m.path_hi = p.path_hi AND m.path_lo = p.path_lo
    LEFT JOIN (SELECT DISTINCT routine_id FROM routines) n ON p.routine_id = n.routine_id
UNION ALL SELECT 9, 'a node belongs to a run', COUNT(*),
       CAST(COALESCE(SUM(CASE WHEN r.run_id IS NULL THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT DISTINCT run_id FROM nodes) m LEFT JOIN (SELECT DISTINCT run_id FROM runs) r ON m.run_id = r.run_id
UNION ALL SELECT 10, 'a run has a node once', COUNT(*),
       CAST(COALESCE(SUM(CASE WHEN times > 1 THEN 1 ELSE 0 END), 0) AS BIGINT)
  FROM (SELECT run_id, path_hi, path_lo, thread_group, COUNT(*) AS times
        FROM nodes GROUP BY run_id, path_hi, path_lo, thread_group) c
ORDER BY number
