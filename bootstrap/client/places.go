package client

import "path/filepath"

// Places is what decides where a client keeps its files.
type Places struct {
	OS     string // as runtime.GOOS
	Home   string
	Getenv func(string) string
}

func inHome(path ...string) func(Places) string {
	return func(p Places) string { return filepath.Join(p.Home, filepath.Join(path...)) }
}

// inXDGConfig is for programs that keep to ~/.config on every system.
func inXDGConfig(path ...string) func(Places) string {
	return func(p Places) string { return filepath.Join(p.xdgConfig(), filepath.Join(path...)) }
}

// inConfigDir is for programs that use each system's own folder of settings.
func inConfigDir(path ...string) func(Places) string {
	return func(p Places) string {
		dir := p.xdgConfig()
		if p.OS == "darwin" {
			dir = filepath.Join(p.Home, "Library", "Application Support")
		}
		return filepath.Join(dir, filepath.Join(path...))
	}
}

// xdgConfig ignores a relative path, as the specification of the variable asks.
func (p Places) xdgConfig() string {
	if dir := p.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

func claudeCodeFile(p Places) string {
	if dir := p.Getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return filepath.Join(dir, ".claude.json")
	}
	return filepath.Join(p.Home, ".claude.json")
}

func codexFile(p Places) string {
	if dir := p.Getenv("CODEX_HOME"); dir != "" {
		return filepath.Join(dir, "config.toml")
	}
	return filepath.Join(p.Home, ".codex", "config.toml")
}

func geminiFile(p Places) string {
	if home := p.Getenv("GEMINI_CLI_HOME"); home != "" {
		return filepath.Join(home, ".gemini", "settings.json")
	}
	return filepath.Join(p.Home, ".gemini", "settings.json")
}
