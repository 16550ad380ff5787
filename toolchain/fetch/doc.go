// Package fetch downloads files whose size and digest are known beforehand.
package fetch
