package sqlgen_test

import "testing"

// TestDeletedIdentityIsSignedOut deletes an identity, and makes another one with its id.
func TestDeletedIdentityIsSignedOut(t *testing.T) {
	t.Parallel()
	a := newApp(t, "signed out", "model Note { fields { text Text } }")
	a.exec(t, `
		insert into app.identity (id) values ('other');
		insert into platform.auth_family (identity_id, key, ends_at)
		select identity_id, decode(repeat('00', 32), 'hex'), now() + interval '1 day' from unnest('{me,other}'::text[]) as identity_id;
		insert into platform.auth_known_address (hash, identity_id, signed_in_at)
		select sha256(identity_id::bytea), identity_id, now() from unnest('{me,other}'::text[]) as identity_id;
		delete from app.identity where id = 'me';
		insert into app.identity (id) values ('me');
	`)
	var revoked []string
	err := a.owner.QueryRow(t.Context(), "select array_agg(identity_id) from platform.auth_family where revoked_at is not null").Scan(&revoked)
	if err != nil || len(revoked) != 1 || revoked[0] != "me" {
		t.Errorf("revoked are the families of %v (%v), want of me", revoked, err)
	}
	var known []string
	err = a.owner.QueryRow(t.Context(), "select array_agg(identity_id) from platform.auth_known_address").Scan(&known)
	if err != nil || len(known) != 1 || known[0] != "other" {
		t.Errorf("known are addresses of %v (%v), want of other", known, err)
	}
}
