package files

import (
	"fmt"

	"github.com/sternpost/sternpost/server/refusal"
	"github.com/sternpost/sternpost/storage/disk"
)

// claim makes sure that a folder holds the files of this database, as far as possible. A
// copy of the database, for example for a test, knows the original's files by their keys. A
// server of the copy on the same folder would delete the original's file with each record
// deleted in the copy. So nothing is deleted in a folder that another database has claimed.
func (s *Service) claim() error {
	store, isDisk := s.Store.(*disk.Store)
	if !isDisk {
		return nil
	}
	var ours string
	err := s.DB.QueryRow(`
		select format('database %s of cluster %s', oid, system_identifier)
		from pg_catalog.pg_control_system(), pg_catalog.pg_database
		where datname = current_database()`, nil, &ours)
	if refusal.SQLState(err) == insufficientPrivilege {
		return nil // a provider of Postgres may hide it
	}
	if err != nil {
		return fmt.Errorf("identify the database: %w", err)
	}
	owner, err := store.Claim(ours)
	if err == nil && owner != ours {
		err = fmt.Errorf("the folder %s belongs to %s, but the server uses %s. If no other server uses the folder, for example after a restore, remove its file %s",
			store.Directory, owner, ours, disk.OwnerFile)
	}
	return err
}

const insufficientPrivilege = "42501"
