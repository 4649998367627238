-- What never changes cannot be emptied either.
create trigger events_kept before truncate on events for each statement execute function writ_immutable();
create trigger receipts_kept before truncate on receipts for each statement execute function writ_immutable();
create trigger definitions_kept before truncate on definitions for each statement execute function writ_immutable();
create trigger authority_events_kept before truncate on authority_events for each statement execute function writ_immutable();
