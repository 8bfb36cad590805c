-- Finds the identity that a provider vouches for, or creates it, and writes what the provider says about it. fields
-- holds one member per column of app.identity: a text, a boolean or null. It ignores members that are not a column,
-- which another release may be about to add, and members that do not come from claims. An issuer with and without a
-- slash at its end is the same.
--
--   found     it existed, and has the fields now
--   created   it did not exist
--   missing   it does not exist and may not be created
--   refused   another identity has a value that must be unique
--   wait      too many identities were created at this client address: come back after so many seconds
--
-- address is where created identities are counted; null counts nothing. Failed attempts do not count here: nobody can
-- lock out an identity that a provider vouches for.
create or replace function platform.auth_identity(
  issuer text,
  external_id text,
  fields jsonb,
  may_create boolean,
  address text,
  per_address integer,
  span interval,
  out outcome text,
  out identity_id text,
  out wait integer
)
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns text[];
  v_values text[];
begin
  wait := 0;
  -- The table is generated, and the project chooses its claims.
  select
    coalesce(array_agg(format('%I', pg_attribute.attname) order by pg_attribute.attnum), '{}'),
    coalesce(
      array_agg(
        format('($1->>%L)::%s', pg_attribute.attname, format_type(pg_attribute.atttypid, pg_attribute.atttypmod))
        order by pg_attribute.attnum
      ),
      '{}'
    )
  from pg_attribute
  where pg_attribute.attrelid = 'app.identity'::regclass
    and pg_attribute.attnum > 0
    and not pg_attribute.attisdropped
    and fields ? pg_attribute.attname
    and pg_attribute.attname not in ('id', 'issuer', 'external_id', 'password', 'created_at', 'updated_at')
  into v_columns, v_values;

  -- The same identity may have been created at this moment, with the unique value: then the second try finds it.
  for v_try in 1..2 loop
    begin
      select identity.id
      from app.identity
      where identity.issuer in (rtrim(auth_identity.issuer, '/'), rtrim(auth_identity.issuer, '/') || '/')
        and identity.external_id = auth_identity.external_id
      order by identity.created_at
      limit 1
      into identity_id;

      if identity_id is not null then
        outcome := 'found';
        if v_columns <> '{}' then
          execute format(
            'update app.identity set %s where id = $2',
            (
              select string_agg(v_columns[place] || ' = ' || v_values[place], ', ')
              from generate_subscripts(v_columns, 1) as place
            )
          )
          using fields, identity_id;
        end if;
        return;
      end if;

      -- What a provider says of its subject is not said of an identity that is only linked to it.
      select auth_link.identity_id
      from platform.auth_link
      where auth_link.issuer = rtrim(auth_identity.issuer, '/')
        and auth_link.external_id = auth_identity.external_id
      into identity_id;
      if identity_id is not null then
        outcome := 'found';
        return;
      end if;

      if not may_create then
        outcome := 'missing';
        return;
      end if;

      if address is not null then
        perform platform.auth_lock(null, address);
        wait := platform.auth_wait_for(platform.auth_filled_at(address, '{identity}', per_address, span), span);
        if wait > 0 then
          outcome := 'wait';
          return;
        end if;
      end if;

      execute format(
        'insert into app.identity (%s) values (%s) returning id',
        array_to_string(array['issuer', 'external_id'] || v_columns, ', '),
        array_to_string(array['$2', '$3'] || v_values, ', ')
      )
      using fields, issuer, external_id
      into identity_id;
      outcome := 'created';

      if address is not null then
        insert into platform.auth_failure (address, kind, is_cleared)
        values (auth_identity.address, 'identity', true);
      end if;
      return;
    exception
      when unique_violation then
        outcome := 'refused';
        identity_id := null;
    end;
  end loop;
end;
$$;

comment on function platform.auth_identity(text, text, jsonb, boolean, text, integer, interval) is
  'Finds or creates the identity that a provider vouches for, and writes its claims.';
grant execute on function platform.auth_identity(text, text, jsonb, boolean, text, integer, interval) to sternpost_server;
