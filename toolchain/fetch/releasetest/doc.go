// Package releasetest is a local server of releases in the shape of GitHub, for
// tests: the API's releases, the plain release pages with their redirects, and
// the files behind a further redirect to another host name.
//
// Start with New and Server.Add. What goes wrong is decided by the handlers
// given to Server.Use, which see each request first; the ready ones are in
// faults.go.
package releasetest
