\set t random(0, 9)
insert into op (tenant_id, op_id, principal, tool, state, action, digest, expires_at, attempt, claimed_at) values (
  'tenant_' || :t::text, gen_random_uuid(), 'user_example', 'inventory.set_available', 'executing',
  '{"operationId":"op_example_01","principalId":"user_example","tenantId":"tenant_example","tool":"inventory.set_available","resource":"warehouse_example/item_example","arguments":{"available":18,"reason":"cycle count 2026-10-14 by shift lead, ticket OPS-18231, counted twice by two people"},"expectedVersion":42,"policyVersion":"inventory-policy-v3","authorizationId":"authz_example_01","expiresAt":"2026-10-14T18:05:00Z","delegation":[{"sub":"user_example","scope":["inventory.write","inventory.read"]},{"sub":"agent_example","scope":["inventory.write"]}],"trace":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}',
  '\x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef', now() + interval '5 min', 1, now())
returning op_id \gset
with u as (
  update op set state = 'succeeded' where tenant_id = 'tenant_' || :t::text and op_id = :op_id::uuid and state = 'executing' returning op_id)
insert into receipt (tenant_id, op_id, outcome, evidence) select 'tenant_' || :t::text, op_id, 'succeeded', '{"kind":"row","resource":"inventory","version":43,"by":"operation"}' from u;
