// Package service keeps one server running in the background for all clients of
// a user: as a user unit of systemd, as an agent of launchd, or, where neither
// is there, as a plain process with a lock, a record of itself and a log.
//
// Start with Find, which knows what is installed, and use the Manager. Each of
// them starts "gtagsmcp service run", which calls Hold, so that there is one server
// whoever started it, and unless the journal takes its messages writes to
// OpenLog.
package service
