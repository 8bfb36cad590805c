// Package derive lowers computed fields: the columns that hold values of other rows, and the triggers that keep them.
package derive
