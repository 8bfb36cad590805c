// Package docs is the pages for developers: at / the application with a page for each model
// and action, at /docs the reference of its APIs. The templates, style sheets and scripts lie
// in this folder beside the code that fills them in. What they show comes from the served
// release and from the catalog of the database; they change nothing. Rows are read and changed
// by a Bench, which sternpost dev brings.
package docs
