// Package telemetry provides a server's log, its metrics and, if the environment
// configures them, traces.
package telemetry
