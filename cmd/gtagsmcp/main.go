// Command gtagsmcp bootstraps a source-navigation toolchain in user space and
// serves indexed code navigation to agents over MCP.
package main

func main() {}
