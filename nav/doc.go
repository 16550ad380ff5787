// Package nav is the navigation engine: one file a question, typed answers, no
// text for people. It reads indexes that exist; it never installs anything.
package nav
