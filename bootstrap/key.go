package bootstrap

import _ "embed"

//go:embed release.pub
var committedKey string

// trialKey stands for the committed key in trial releases and in tests, which
// set it when they link: -ldflags "-X …/bootstrap.trialKey=RW…".
var trialKey string

// ReleaseKey is the public key that signed releases are checked with, in
// minisign's text form; release.ParseKey says when there is none.
func ReleaseKey() string {
	if trialKey != "" {
		return trialKey
	}
	return committedKey
}
