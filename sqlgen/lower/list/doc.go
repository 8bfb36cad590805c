// Package list lowers lists, of models and of unions: their rows, filters, orders, pages, facets and indexes.
package list
