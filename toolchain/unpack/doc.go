// Package unpack extracts archives whose content is not trusted.
package unpack
