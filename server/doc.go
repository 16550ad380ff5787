// Package server speaks MCP: the tool table, one file a tool, the choice of the
// project root, and the one renderer that makes text or JSON of an answer.
package server
