-- Names that nobody can capture. Nothing of an older version is dropped or changes its signature: nodes of
-- both versions may run side by side.

-- ---- Names ----

-- No object of another role can capture a name in these functions, whatever the session's search_path.
-- pg_temp is named because otherwise it is searched first for tables and types. The two functions that
-- the planner inlines have no path of their own; they are qualified.
DO $do$
DECLARE
  f regprocedure;
BEGIN
  FOR f IN
    SELECT p.oid FROM pg_proc AS p
     WHERE p.pronamespace = 'hapax'::regnamespace AND p.proname NOT IN ('_moment', '_moment_ms')
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', f);
  END LOOP;
END
$do$;
