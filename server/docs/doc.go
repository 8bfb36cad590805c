// Package docs serves the pages for developers: at / the application with a page for each
// model and action, at /docs the reference of its APIs. The templates, style sheets and
// scripts are in this folder beside the code that fills them in. They show the served release
// and the catalog of the database, and change nothing. Data, which sternpost dev provides,
// reads and changes rows.
package docs
