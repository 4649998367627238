-- What `writ probe` measured: which claims of a tool's contract its provider really keeps. The last row of a tool definition under
-- one provider's settings counts; a claim that was measured false closes the tool until another row says otherwise.
create table probes (
  tenant_id text not null references authority,
  tool_digest text not null,
  settings_digest text not null,
  n int not null check (n > 0),
  measured jsonb not null check (jsonb_typeof(measured) = 'array'),
  verdict text not null check (verdict in ('holds', 'broken', 'unclear')),
  at timestamptz not null,
  actor text not null,
  primary key (tenant_id, tool_digest, settings_digest, n)
);
create trigger probes_immutable before update or delete on probes
  for each row execute function writ_immutable();
select writ_wall('probes');
create trigger probes_kept before truncate on probes for each statement execute function writ_immutable();
