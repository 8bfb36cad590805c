// Package docs is the pages for developers: at / the application as it is, at /docs the
// reference of its APIs. The templates, style sheets and scripts lie in this folder beside
// the code that fills them in. What they show comes from the served release and from the
// catalog of the database; they change nothing.
package docs
