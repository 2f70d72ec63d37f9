-- Methods that had probes in some run, and that no run counted or sampled.
WITH ran AS (
  SELECT DISTINCT callee_id FROM arcs WHERE calls > 0 OR cum_ticks > 0
), probed AS (
  SELECT n.routine_id, MIN(n.class) AS class, MIN(n.routine) AS routine, COUNT(DISTINCT n.service) AS services
  FROM routines n
  WHERE n.probed
  GROUP BY n.routine_id
)
SELECT p.class, p.routine, p.services
FROM probed p LEFT JOIN ran ON p.routine_id = ran.callee_id
WHERE ran.callee_id IS NULL
ORDER BY p.class, p.routine, p.routine_id
