package client

// Instructions is a paragraph for the file that agents read before they work. A
// server's own instructions reach the agent that is connected to it, but mostly
// not the sub-agents it starts, which then search with grep.
const Instructions = `## Code navigation

This tree has an index, served by the MCP server "gtags". Ask it before you grep or open files to find code:

- where a name is defined: find_definition; its source alone: get_symbol_body
- who calls or uses it: find_callers, find_references; what it calls: find_callees
- whether one function reaches another: reachability; what a change touches: blast_radius
- what a file defines: list_file_symbols

Names are exact. The index follows every edit by itself. Use grep for text that is no name: messages, comments, configuration.
An answer that says "installing" or "indexing" is not a miss: ask again after some seconds.
When you start a sub-agent that is to look at code, give it these tools and repeat this section in its task.
`
