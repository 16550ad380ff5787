// Package gtagsdb reads the database files of GNU Global (GTAGS, GRTAGS, GPATH)
// in process, from memory-mapped pages.
package gtagsdb
