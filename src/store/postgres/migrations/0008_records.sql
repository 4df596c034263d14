-- Records: small texts by name. Names are visible ASCII.

CREATE TABLE hapax.record (
  name    bytea  PRIMARY KEY,
  version bigint NOT NULL,          -- made by whoever wrote it
  content bytea  NOT NULL
);

-- 0 another one is there, 1 this one is, 2 there is no room. Who writes waits for the one before him.
CREATE FUNCTION hapax._put_record(wanted bytea, after bigint, before bigint, text bytea, most bigint)
RETURNS int
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  now bigint;
BEGIN
  PERFORM hapax._be_durable();
  PERFORM pg_advisory_xact_lock(448345170301);
  SELECT r.version INTO now FROM hapax.record AS r WHERE r.name = wanted;
  now := coalesce(now, 0);
  IF now = after THEN
    RETURN 1;
  ELSIF now <> before THEN
    RETURN 0;
  ELSIF now = 0 AND (SELECT count(*) FROM hapax.record) >= most THEN
    RETURN 2;
  END IF;
  INSERT INTO hapax.record AS r (name, version, content) VALUES (wanted, after, text)
    ON CONFLICT (name) DO UPDATE SET version = excluded.version, content = excluded.content;
  RETURN 1;
END
$$;

-- Whether none is there any more.
CREATE FUNCTION hapax._remove_record(wanted bytea, number bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
BEGIN
  PERFORM hapax._be_durable();
  PERFORM pg_advisory_xact_lock(448345170301);
  DELETE FROM hapax.record AS r WHERE r.name = wanted AND r.version = number;
  RETURN NOT EXISTS (SELECT 1 FROM hapax.record AS r WHERE r.name = wanted);
END
$$;
