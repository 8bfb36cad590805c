// Package layout breaks text over lines where it does not fit on one.
//
// A layout says where lines may break; printing it decides. The formatter of the schema
// language and the printer of SQL both write by it. The layouts and their algorithm are
// those of P. Wadler, A prettier printer (2003).
package layout
