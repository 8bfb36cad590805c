// Package telemetry is what operators see of a server: its log, its metrics and, if the
// environment asks for them, traces.
package telemetry
