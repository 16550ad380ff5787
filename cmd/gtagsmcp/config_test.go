package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/client"
	"github.com/gtagsmcp/gtagsmcp/server"
)

// TestInstructionsNameToolsThatExist: what agents are told to use must be there.
func TestInstructionsNameToolsThatExist(t *testing.T) {
	s := server.New(server.Config{})
	defer s.Close()
	tools := s.Tools()
	named := regexp.MustCompile(`\b[a-z]+_[a-z_]+\b|\breachability\b`).FindAllString(client.Instructions, -1)
	if len(named) < 6 {
		t.Fatalf("the instructions name %v", named)
	}
	for _, name := range named {
		if !slices.Contains(tools, name) {
			t.Errorf("the instructions name %s, which is no tool", name)
		}
	}
}
