-- Limits: how much may happen in a while. Concurrent claims on one room meet on its row here.
create table limit_rooms (
  tenant_id text not null,
  room text not null,
  passes bigint not null default 1,
  primary key (tenant_id, room)
) with (fillfactor = 70);

-- What an operation takes of a room: from its first claim on, for as long as its outcome is not known.
create table reservations (
  tenant_id text not null,
  operation_id uuid not null,
  room text not null,
  amount numeric not null check (amount >= 0),
  reserved_at timestamptz not null,
  -- Its effect happened at the latest now: a window counts from here.
  settled_at timestamptz,
  primary key (tenant_id, operation_id, room)
);
create index reservations_room on reservations (tenant_id, room, settled_at);

-- When a reservation ends to count; null while it does not.
create function writ_reservation_end(settled_at timestamptz, kind text, for_ms bigint) returns bigint language sql stable as $$
  select case kind
    when 'sliding' then writ_ms(settled_at) + for_ms
    when 'fixed' then (writ_ms(settled_at) / for_ms + 1) * for_ms end $$;

-- Reserves for each item all that it draws, or nothing of it: then there is one row that names what has no room, and when it will.
-- An item of an operation that exists names its revision and epoch, and reserves only while they hold: its row is locked from here on.
-- What an operation holds already it keeps. The rooms must be locked.
create function writ_reserve(items jsonb) returns table (ord int, limit_name text, retry_ms bigint, clock_ms bigint) language plpgsql as $$
declare
  item record;
  draw record;
  clock bigint := writ_ms(writ_clock());
  held numeric;
  made text[];
  full_up boolean;
begin
  for item in select * from jsonb_to_recordset(items) as i(ord int, tenant_id text, id uuid, revision int, epoch bigint, draws jsonb)
      order by i.ord loop
    if item.revision is not null then
      perform from operations o join authority a using (tenant_id)
        where o.tenant_id = item.tenant_id and o.id = item.id and o.revision = item.revision and a.epoch = item.epoch for update of o;
      continue when not found;
    end if;
    made := array[]::text[];
    full_up := false;
    for draw in select * from jsonb_to_recordset(item.draws) as d(room text, name text, amount numeric, max numeric, kind text, for_ms bigint) loop
      continue when exists (
        select from reservations r where r.tenant_id = item.tenant_id and r.operation_id = item.id and r.room = draw.room);
      select coalesce(sum(r.amount), 0) into held from reservations r
        where r.tenant_id = item.tenant_id and r.room = draw.room
          and coalesce(writ_reservation_end(r.settled_at, draw.kind, draw.for_ms) > clock, true);
      if held + draw.amount > draw.max then
        full_up := true;
        ord := item.ord;
        limit_name := draw.name;
        clock_ms := clock;
        -- Room only grows when a reservation ends to count: the first end with enough room behind it.
        select min(e.ends) into retry_ms from (
          select c.ends, held - sum(c.amount) over (order by c.ends) as remains from (
            select writ_reservation_end(r.settled_at, draw.kind, draw.for_ms) as ends, r.amount from reservations r
            where r.tenant_id = item.tenant_id and r.room = draw.room) c
          where c.ends > clock) e
        where e.remains + draw.amount <= draw.max;
        exit;
      end if;
      insert into reservations (tenant_id, operation_id, room, amount, reserved_at)
        values (item.tenant_id, item.id, draw.room, draw.amount, writ_at(clock));
      made := made || draw.room;
      -- What has ended to count is forgotten, a little at each step.
      delete from reservations where (tenant_id, operation_id, room) in (
        select r.tenant_id, r.operation_id, r.room from reservations r
        where r.tenant_id = item.tenant_id and r.room = draw.room
          and writ_reservation_end(r.settled_at, draw.kind, draw.for_ms) <= clock order by r.settled_at limit 3);
    end loop;
    if full_up then
      -- Nothing of it stays, but for what an earlier claim of the operation holds.
      delete from reservations r where r.tenant_id = item.tenant_id and r.operation_id = item.id and r.room = any(made);
      return next;
    end if;
  end loop;
end $$;
