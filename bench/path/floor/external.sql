-- The same rows as one external operation of Writ: the head, the key, the guard and three events in one commit; the new head, an event and the receipt in another.
-- No colon stands before a letter in these texts: pgbench would take the word for one of its variables.
-- Written once from rows that Writ stored; `npm run bench -- path` prints how many bytes of rows each of the two writes.
with o as (
    insert into operations (tenant_id, id, revision, state, tool, tool_digest, provider, resource, principal_id, client_id, intent_key, action, digest,
      effect_digest, expected_version, execute, permission, authorized_at, expires_at, attempts, inquiry, evidence, event_count, event_hash,
      due_at, created_at, updated_at, settled_at)
    values ('main', bench_uuid(), 1, 'executing', 'orders.place', 'sha-256.Gw0H7UZsE8FMWYXNNUUZfIWSTga99bszQDJfyawAXDc', 'shop', 'Order.dcb6a54c-73f',
      'https://bench.writ.example#ada', 'agent-7', 'a1b2c3d4-5f6', '{"arguments":{"item":"item_3833","order":"dcb6a54c-73f","quantity":1,"reason":"cycle count 2026-10-14 by shift lead, ticket OPS-18231, counted twice by two people"},"clientId":"agent-7","delegation":[],"operationId":"op_01a22ec2493e70d6ac56aaaa98c80161","principalId":"https://bench.writ.example#ada","provider":{"name":"shop","settingsDigest":"sha-256.8CL02eLoSuIAl_FIeXYAg5zP8dfBdtbXDmGkzzL5nF4"},"resource":{"id":"dcb6a54c-73f","parents":[],"type":"Order"},"salt":"pSkS4jG83HaZG5r-kSTZkw","tenantId":"main","tool":"orders.place","toolDigest":"sha-256.Gw0H7UZsE8FMWYXNNUUZfIWSTga99bszQDJfyawAXDc","v":1}',
      'sha-256.g2Oz_mpW4qew1ejsWRj4Ppz1f7onQOI3YmAXrncNfRo', 'hmac-256:' || left(md5(random()::text) || md5(random()::text), 43), null, 'now',
      '{"digest":"sha-256.g2Oz_mpW4qew1ejsWRj4Ppz1f7onQOI3YmAXrncNfRo","policyVersion":"sha-256.zR793CVsY4_VLiMF6wKIdd9tGs1icOr1A_QvhdJgjAc","epoch":2,"roles":["agent"],"policies":["role.agent"],"obligations":[],"approvals":[]}', now(), now() + interval '60 s', '[{"claimId":"9d2f02dd-eda5-4142-9c8e-254fa784d143","worker":"vm-7166-b8a1819a","n":1,"claimedAt":1796077484735,"leaseUntil":1796077524735}]',
      '{"looked":0,"unclearInRow":0}', null, 3, 'sha-256.dQqAtYXPnNUU3uwsqtQFUZQD-M5sdjgocH8LpNlIDSs', now() + interval '40 s', now(), now(), null)
    returning id, effect_digest),
  k as (
    insert into intent_keys (tenant_id, principal_id, intent_key, operation_id, proposal_digest, content_digest)
    select 'main', 'https://bench.writ.example#ada', right(o.id::text, 12), o.id, 'sha-256.zHs1nmzLCIcoVB0SNtW6OZ2Wv-ndL6cJZGePNax8CYI', 'sha-256.1DVZXd_Keh97ZA_GzM_tUYIu8vnvfWk7U65ZBdYS9vI' from o),
  g as (
    insert into effect_guards as g (tenant_id, scope, effect_digest) select 'main', 'https://bench.writ.example#ada', o.effect_digest from o
    on conflict (tenant_id, scope, effect_digest) do update set passes = g.passes + 1),
  e as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select 'main', o.id, v.n, v.type, now(), v.body, v.hash from o, (values
      (1, 'proposed', '{"n":1,"type":"proposed","at":"2026-10-14T18:05:00.000Z","actor":{"principal":"https://bench.writ.example#ada","client":"agent-7","delegation":[]},"data":{"tool":"orders.place","resource":"Order.dcb6a54c-73f","digest":"sha-256.g2Oz_mpW4qew1ejsWRj4Ppz1f7onQOI3YmAXrncNfRo"},"prev": null}', 'sha-256.xZx3SG3eblVbAjjoVlRGGAdoZXWBnjH6hT5Re0xTyAE'),
      (2, 'authorized', '{"n":2,"type":"authorized","at":"2026-10-14T18:05:00.000Z","actor":{"policy":"sha-256.zR793CVsY4_VLiMF6wKIdd9tGs1icOr1A_QvhdJgjAc"},"data":{"policyVersion":"sha-256.zR793CVsY4_VLiMF6wKIdd9tGs1icOr1A_QvhdJgjAc","epoch":2,"policies":["role.agent"]},"prev":"sha-256.xZx3SG3eblVbAjjoVlRGGAdoZXWBnjH6hT5Re0xTyAE"}', 'sha-256.W2YAbYq9JFneh25tle_6quFtmGGKB5EFI2MRlKltUBg'),
      (3, 'claimed', '{"n":3,"type":"claimed","at":"2026-10-14T18:05:00.000Z","actor":{"worker":"vm-7166-b8a1819a"},"data":{"claim":"9d2f02dd-eda5-4142-9c8e-254fa784d143","attempt":1},"prev":"sha-256.W2YAbYq9JFneh25tle_6quFtmGGKB5EFI2MRlKltUBg"}', 'sha-256.dQqAtYXPnNUU3uwsqtQFUZQD-M5sdjgocH8LpNlIDSs')) as v (n, type, body, hash))
select id as operation_id from o \gset
with o as (
    update operations set revision = revision + 1, state = 'succeeded', attempts = '[{"n":1,"claimId":"d819449d-608c-4e4b-bcd8-b99b5e0d5288","worker":"vm-7166-b8a1819a","claimedAt":1796080814076,"leaseUntil":1796080854076,"outcome":{"kind":"confirmed","evidence":{"kind":"answer","data":{"attempt":1,"status":201,"id":"order_435"}}},"learnedAt":1796080814165}]',
      inquiry = '{"looked":0,"unclearInRow":0}', evidence = '{"kind":"answer","data":{"attempt":1,"status":201,"id":"order_435"}}', permission = '{"digest":"sha-256.xSH4RI5bZ8DJK07Rz0vtWkRHxkoE7HUaONyi-lJ-FPo","policyVersion":"sha-256.zR793CVsY4_VLiMF6wKIdd9tGs1icOr1A_QvhdJgjAc","epoch":2,"roles":["agent"],"policies":["role.agent"],"obligations":[],"approvals":[]}',
      due_at = null, updated_at = now(), settled_at = now(), event_count = 4, event_hash = 'sha-256.Ma0rFygauJXbqVCuLV5IYtfRwPm70Q-zaqsAa9mbKYk'
    where tenant_id = 'main' and id = :operation_id::uuid and revision = 1 returning id),
  e as (
    insert into events (tenant_id, operation_id, n, type, at, body, hash)
    select 'main', o.id, v.n, v.type, now(), v.body, v.hash from o, (values
      (4, 'confirmed', '{"n":4,"type":"confirmed","at":"2026-10-14T18:05:00.000Z","actor":{"worker":"vm-7166-b8a1819a"},"data":{"claim":"d819449d-608c-4e4b-bcd8-b99b5e0d5288","outcome":{"kind":"confirmed","evidence":{"kind":"answer","data":{"attempt":1,"status":201,"id":"order_435"}}}},"prev":"sha-256.dQqAtYXPnNUU3uwsqtQFUZQD-M5sdjgocH8LpNlIDSs"}', 'sha-256.Ma0rFygauJXbqVCuLV5IYtfRwPm70Q-zaqsAa9mbKYk')) as v (n, type, body, hash))
insert into receipts (tenant_id, operation_id, jws, at) select 'main', o.id, 'eyJhbGciOiJFZERTQSIsImtpZCI6InNua21xbWZmUUpFTnNMT0F3WkdxT3ozV01TdGtOay13S2JETDZPdnB3SVUiLCJ0eXAiOiJ3cml0LXJlY2VpcHQranNvbiJ9.eyJhdHRlbXB0cyI6W3siY2xhaW1lZEF0IjoxNzk2MDgwODE0MDc2LCJsZWFybmVkIjoiY29uZmlybWVkIiwibiI6MX1dLCJhdXRob3JpemF0aW9uIjp7ImFwcHJvdmFscyI6W10sImF1dGhvcml6ZWRBdCI6MTc5NjA4MDgxNDA3NiwiZXBvY2giOjIsImV4cGlyZXNBdCI6MTc5NjA4MTExNDA3NiwicG9saWNpZXMiOlsicm9sZS5hZ2VudCJdLCJwb2xpY3lWZXJzaW9uIjoic2hhLTI1Njp6Ujc5M0NWc1k0X1ZMaU1GNndLSWRkOXRHczFpY09yMUFfUXZoZEpnakFjIn0sImNsaWVudElkIjoiYWdlbnQtNyIsImRpZ2VzdCI6InNoYS0yNTY6eFNINFJJNWJaOERKSzA3UnowdnRXa1JIeGtvRTdIVWFPTnlpLWxKLUZQbyIsImV2aWRlbmNlIjp7ImRhdGEiOnsiYXR0ZW1wdCI6MSwiaWQiOiJvcmRlcl80MzUiLCJzdGF0dXMiOjIwMX0sImtpbmQiOiJhbnN3ZXIifSwib2JzZXJ2ZWRBdCI6MTc5NjA4MDgxNDE2NSwib3BlcmF0aW9uSWQiOiJvcF8wMWEyMmVjMjQ3ZTk3MDk4YmEzNjgyMzEzMDBkMTdhYiIsInByaW5jaXBhbElkIjoiaHR0cHM6Ly9iZW5jaC53cml0LmV4YW1wbGUjYWRhIiwicHJvdmlkZXIiOiJzaG9wIiwicmVzb3VyY2UiOiJPcmRlcjpkY2I2YTU0Yy02em8iLCJzdGF0ZSI6InN1Y2NlZWRlZCIsInRlbmFudElkIjoibWFpbiIsInRvb2wiOiJvcmRlcnMucGxhY2UiLCJ0b29sRGlnZXN0Ijoic2hhLTI1NjpHdzBIN1Vac0U4Rk1XWVhOTlVVWmZJV1NUZ2E5OWJzelFESmZ5YXdBWERjIiwidiI6MX0.H7ErLEEnxXZy23mQM7s-EzlvC-Z4_gKSVDADxvEg7rvMnVBvp9bgi9r9xIMBEw-eMuv9951KSSeTUUp3Nt1MCA', now() from o;
