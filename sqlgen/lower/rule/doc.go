// Package rule lowers rules to the policies of tables, and says what is known of a rule before a row is read.
package rule
