// Package client registers the server with the programs that use it: it knows
// where each client keeps its list of MCP servers on each system, how an entry
// is written there, and how to change that one entry and nothing else.
//
// Start with Find or All. Client.Snippet is the entry to paste, Client.Write
// merges it into the client's file and Client.Remove takes it out again.
//
// A file is somebody else's: comments, order and formatting stay, and so do
// keys of our own entry that only the user can have written. The result is
// parsed again and compared with what was there before it replaces the file; the
// file before the last change stays beside it, with BackupSuffix. A file
// that cannot be understood is refused with line and column.
package client
