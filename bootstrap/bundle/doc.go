// Package bundle makes what a release publishes beside its binaries: the bundle
// that Claude Desktop installs with a click (Release.WriteBundle, the .mcpb
// format, manifest version 0.3) and the entry of the MCP registry
// (Release.ServerJSON, schema 2025-12-11). Both come from one description of the
// program, so they cannot disagree, and the same input gives the same bytes.
//
// A bundle is a zip archive:
//
//	manifest.json           what the host shows, asks and starts
//	LICENSE
//	server/launch.sh        picks the program; the host runs it through /bin/sh
//	server/gtagsmcp-darwin  one Mach-O file for both processors
//	server/gtagsmcp-linux-amd64
//	server/gtagsmcp-linux-arm64
//
// The manifest can tell operating systems apart but not processors. On macOS the
// kernel therefore picks out of a universal file, and on Linux launch.sh picks by
// the name of the machine. Some hosts drop the executable bit of what they
// unpack, which is why nothing is started but /bin/sh.
package bundle
