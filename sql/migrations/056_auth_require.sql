-- They have other results now, or another name.
drop function if exists platform.auth_needs(text, text);
drop function if exists platform.auth_passkey_confirm(text, text, text, text, bytea, boolean, bigint, bytea, timestamptz);
drop function if exists platform.auth_totp_propose(text, text, text);
drop function if exists platform.auth_totp_confirm(text, text, text, bigint, bytea[]);
drop function if exists platform.auth_factor_remove(text, text, text);
drop function if exists platform.auth_recovery_renew(text, text, bytea[]);
drop function if exists platform.auth_end_session(text, text, text);
