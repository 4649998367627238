/**
 * RFC 8785 and the digest of an action once more, in SQL, written from the RFC and from section 2 of the protocol alone: two
 * implementations in two languages that agree are hard to get wrong together.
 */
export const SECOND_IMPLEMENTATION = `
-- Members are sorted by their UTF-16 code units; four hex digits for each unit sort the same way.
create function utf16(t text) returns text language plpgsql immutable as $$
declare
  code int;
  units text := '';
begin
  for i in 1 .. length(t) loop
    code := ascii(substr(t, i, 1));
    if code < 65536 then
      units := units || lpad(to_hex(code), 4, '0');
    else
      units := units || lpad(to_hex(55296 + ((code - 65536) >> 10)), 4, '0') || lpad(to_hex(56320 + ((code - 65536) & 1023)), 4, '0');
    end if;
  end loop;
  return units;
end $$;

-- ECMAScript's Number::toString (ECMA-262 6.1.6.1.20). PostgreSQL's float8 prints digits that name the double, and once in a while one
-- more than needed (71467520003164260 as 7.1467520003164256e+16): as long as fewer digits name the same double, they are taken.
create function ecma_number(v float8) returns text language plpgsql immutable as $$
declare
  sign text := case when v < 0 then '-' else '' end;
  m numeric := abs(v::text::numeric);
  shorter numeric;
  whole text;
  fraction text;
  digits text;
  n int;
  k int;
begin
  if v = 0 then return '0'; end if;
  loop
    whole := ltrim(split_part(m::text, '.', 1), '0');
    fraction := rtrim(split_part(m::text, '.', 2), '0');
    digits := ltrim(whole || fraction, '0');
    -- How many digits stand before the point; not positive where zeros follow it.
    n := case when whole <> '' then length(whole) else length(digits) - length(fraction) end;
    digits := rtrim(digits, '0');
    k := length(digits);
    exit when k = 1;
    shorter := round(m, k - 1 - n);
    -- Rounded up it may be more than any double.
    exit when shorter > 1.7976931348623157e308::float8::text::numeric;
    exit when shorter::text::float8 <> abs(v);
    m := shorter;
  end loop;
  if k <= n and n <= 21 then return sign || digits || repeat('0', n - k); end if;
  if 0 < n and n <= 21 then return sign || substr(digits, 1, n) || '.' || substr(digits, n + 1); end if;
  if -6 < n and n <= 0 then return sign || '0.' || repeat('0', -n) || digits; end if;
  return sign || substr(digits, 1, 1) || case when k > 1 then '.' || substr(digits, 2) else '' end
    || 'e' || case when n - 1 > 0 then '+' else '-' end || abs(n - 1);
end $$;

create function jcs(v jsonb) returns text language plpgsql immutable as $$
begin
  case jsonb_typeof(v)
    when 'object' then
      return '{' || coalesce((select string_agg(to_json(key)::text || ':' || jcs(value), ',' order by utf16(key) collate "C")
        from jsonb_each(v)), '') || '}';
    when 'array' then
      return '[' || coalesce((select string_agg(jcs(value), ',' order by n) from jsonb_array_elements(v) with ordinality e(value, n)), '') || ']';
    when 'number' then
      return ecma_number(v::text::float8);
    when 'string' then
      return to_json(v #>> '{}')::text;
    else
      return v::text;
  end case;
end $$;

create function action_digest(action jsonb) returns text language sql immutable as $$
  select 'sha-256:' || translate(rtrim(encode(sha256(convert_to('writ.action.v1', 'UTF8') || '\\x00'::bytea || convert_to(jcs(action), 'UTF8')), 'base64'), '='), E'+/\\n', '-_')
$$;
`;
