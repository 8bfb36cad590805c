package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// StorageType is the kind of storage for file contents.
type StorageType string

// The kinds of storage.
const (
	S3    StorageType = "s3"
	Disk  StorageType = "disk"  // a folder, for one machine
	Local StorageType = "local" // a folder, for development
)

// IsFolder tells whether files are kept in a folder of this machine.
func (t StorageType) IsFolder() bool { return t == Disk || t == Local }

// Storage configures the storage of file contents.
type Storage struct {
	Type      StorageType
	Directory string // of disk and local
	Reserve   int    // of disk: bytes that must stay free
	Bucket    string // of s3, like all below
	Region    string
	Endpoint  string // empty means that of AWS
	PathStyle bool

	Check       bool          // whether a server tests at its start that files can be stored
	DeleteDelay time.Duration // from the deletion of a file to that of its contents
}

// Jobs configures code that runs without a call.
type Jobs struct {
	Timeout time.Duration // of one run
}

// Changes limits the record of changes that subscribers read.
type Changes struct {
	Keep time.Duration // how long a change waits for a subscriber
}

// Uploads limits what clients may send before a call.
type Uploads struct {
	URLExpiry               time.Duration
	KeyExpiry               time.Duration // greater
	MaxOutstanding          int           // per identity
	MaxOutstandingAnonymous int           // per client address
	CheckInline             bool          // whether the limits of fields also apply to inline files
}

// maxURLExpiry is the maximum lifetime of a presigned URL of S3.
const maxURLExpiry = 7 * 24 * time.Hour

func (c *Config) checkStorage() []error {
	var problems []error
	if c.Mode == Production && c.Storage.Type == Local {
		problems = append(problems, errors.New("storage.type is local, which is for development: set s3 or disk in production"))
	}
	if c.Mode == Production && c.Storage.Type == Disk && !filepath.IsAbs(c.Storage.Directory) {
		problems = append(problems, fmt.Errorf("storage.directory is %s: in production give an absolute path, such as /var/lib/sternpost/files", c.Storage.Directory))
	}
	return problems
}

// Faults lists the missing settings of the storage.
func (c *Storage) Faults() []string {
	var faults []string
	if c.Type.IsFolder() {
		return nil
	}
	for _, s := range []struct{ key, value string }{{"storage.s3.bucket", c.Bucket}, {"storage.s3.region", c.Region}} {
		if s.value == "" {
			faults = append(faults, fmt.Sprintf("%s is required to store files: set it in sternpost.yaml, or %s in the environment",
				s.key, findSetting(s.key).knownVariable()))
		}
	}
	return faults
}

// Pagination configures the pages of lists. The zero Pagination leaves lists as
// published.
type Pagination struct {
	DefaultSize int  // of a page if the request does not set it
	MaxSize     int  // the maximum in a request
	AlwaysCount bool // whether every list returns the total number of rows
}

// MCP names the APIs whose actions are tools of agents.
type MCP struct {
	APIs   []string
	Writes []string // those of APIs whose writing actions are tools too
}

// OpenAPIAccess tells who may read the description of an API.
type OpenAPIAccess string

// The readers: anyone, anyone with a token, or nobody.
const (
	OpenAPIPublic        OpenAPIAccess = "public"
	OpenAPIAuthenticated OpenAPIAccess = "authenticated"
	OpenAPIOff           OpenAPIAccess = "off"
)
