-- Rejects with the address they came from, and what did not stay. Nothing wrote rejects before.

DROP FUNCTION hapax._add_rejects(bigint[], bigint[], bigint[], bytea[], bytea[], bytea[], bytea[],
                                 bytea[], bytea[], bytea[], bytea[], bigint);
DROP TABLE hapax.reject;
CREATE TABLE hapax.reject (
  no          bigint PRIMARY KEY,
  received_us bigint NOT NULL,
  source      int    NOT NULL,
  size        bigint NOT NULL,       -- see size_of(Reject)
  address     bytea  NOT NULL,
  tenant      bytea  NOT NULL,
  reason      bytea  NOT NULL,
  detail      bytea  NOT NULL,
  method      bytea  NOT NULL,
  url         bytea  NOT NULL,
  headers     bytea  NOT NULL,
  proof       bytea  NOT NULL,
  body        bytea  NOT NULL
);
CREATE INDEX reject_ring ON hapax.reject (source, no) INCLUDE (address, size);
CREATE TABLE hapax.reject_count (
  source  int    PRIMARY KEY,
  evicted bigint NOT NULL DEFAULT 0,
  dropped bigint NOT NULL DEFAULT 0
);

-- Removes rejects of one source until their number, or their size, is `most`: as give_way() in
-- store/reject_ring.cpp. The caller holds the source's row of reject_count.
CREATE FUNCTION hapax._trim_rejects(whose int, by_size boolean, most bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  held    bigint;
  who     bytea;
  share   bigint;
  need    bigint;
  removed bigint;
  gone    bigint := 0;
BEGIN
  LOOP
    SELECT coalesce(sum(CASE WHEN by_size THEN r.size ELSE 1 END), 0) INTO held
      FROM hapax.reject AS r WHERE r.source = whose;
    EXIT WHEN held <= most;
    SELECT r.address, sum(CASE WHEN by_size THEN r.size ELSE 1 END) AS s INTO who, share
      FROM hapax.reject AS r WHERE r.source = whose GROUP BY r.address ORDER BY s DESC, r.address
     LIMIT 1;
    need := held - most;
    IF share > most / 4 THEN
      need := least(need, share - most / 4);
    ELSE
      who := NULL;
    END IF;
    DELETE FROM hapax.reject WHERE no IN (
      SELECT o.no FROM (
        SELECT r.no, sum(CASE WHEN by_size THEN r.size ELSE 1 END) OVER (ORDER BY r.no)
                     - CASE WHEN by_size THEN r.size ELSE 1 END AS before
          FROM hapax.reject AS r WHERE r.source = whose AND (who IS NULL OR r.address = who)) AS o
       WHERE o.before < need);
    GET DIAGNOSTICS removed = ROW_COUNT;
    gone := gone + removed;
    EXIT WHEN removed = 0;  -- another has removed them
  END LOOP;
  RETURN gone;
END
$$;

-- Keeps rejects, counts those that were dropped, and removes what is more than a source may have.
-- How many those are. The row of the count is the lock.
CREATE FUNCTION hapax._add_rejects(nos bigint[], sources bigint[], received bigint[], sizes bigint[],
                                   tenants bytea[], reasons bytea[], details bytea[], methods bytea[],
                                   urls bytea[], headers bytea[], proofs bytea[], bodies bytea[],
                                   addresses bytea[], dropped_of bigint[], dropped bigint[],
                                   most bigint, most_bytes bigint)
RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog AS $$
DECLARE
  one  int;
  gone bigint;
  sum  bigint := 0;
BEGIN
  PERFORM hapax._be_durable();
  INSERT INTO hapax.reject_count AS c (source, dropped)
    SELECT w.source, sum(w.n) FROM (SELECT s AS source, 0::bigint AS n FROM unnest(sources) AS s
                                    UNION ALL SELECT * FROM unnest(dropped_of, dropped)) AS w
     GROUP BY w.source ORDER BY w.source
    ON CONFLICT (source) DO UPDATE SET dropped = c.dropped + excluded.dropped;
  INSERT INTO hapax.reject (no, source, received_us, size, tenant, reason, detail, method, url,
                            headers, proof, body, address)
    SELECT * FROM unnest(nos, sources, received, sizes, tenants, reasons, details, methods, urls,
                         headers, proofs, bodies, addresses) AS w (no) ORDER BY w.no
    ON CONFLICT DO NOTHING;
  FOR one IN SELECT DISTINCT s FROM unnest(sources) AS s ORDER BY s LOOP
    gone := hapax._trim_rejects(one, false, most) + hapax._trim_rejects(one, true, most_bytes);
    IF gone > 0 THEN
      UPDATE hapax.reject_count AS c SET evicted = c.evicted + gone WHERE c.source = one;
    END IF;
    sum := sum + gone;
  END LOOP;
  RETURN sum;
END
$$;
