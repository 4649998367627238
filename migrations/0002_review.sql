-- What people must say about an operation before it may execute, and what they have said.
alter table operations add column review jsonb;
create index operations_waiting on operations (tenant_id, id) where state = 'proposed';
