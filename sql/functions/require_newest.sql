-- Ends a call that waited while a release was installed, with the snapshot that it took before. If rows were written
-- anew, such a snapshot shows neither them nor what they were, and new columns are null: the call would answer that
-- there are no rows, or refuse its caller. The server makes it again. Statements of volatile functions take snapshots of
-- their own, behind their locks.
--
-- A query reads the catalog by the snapshot of its call, and pg_relation_filenode reads it as it is now: to alter a
-- table is to lock it, and a call that has got its lock knows of all that was committed before. So the two differ if a
-- release was installed in between. It has to be stable, as all functions that call it, or it would have a snapshot of
-- its own. A read calls it in the end if the file is not that of the release that its server has loaded, and any call
-- does so before it refuses its caller.
create or replace function platform.require_newest() returns boolean
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  if
    (select pg_class.relfilenode from pg_class where pg_class.oid = 'platform.release_mark'::regclass)
      is distinct from pg_relation_filenode('platform.release_mark')
  then
    raise exception 'a release was installed after the snapshot of this call was taken' using errcode = 'serialization_failure';
  end if;
  return false;
end;
$$;

comment on function platform.require_newest() is 'Ends a call whose snapshot is older than the newest release; false.';
grant execute on function platform.require_newest() to sternpost_caller, sternpost_code, sternpost_server;
