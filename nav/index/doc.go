// Package index keeps the generations of one repository's index: which files
// belong to it, how they are built into GNU Global databases, how a new
// generation replaces the old one, and who may write.
package index
