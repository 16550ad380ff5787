// Package bootstrap is the readiness of this machine: it turns "is the toolchain
// here?" into a gate that many sessions and processes can ask at once. The
// first that needs a missing toolchain starts one install; all others are told
// that it is under way and when to come back.
//
// Start with New and Gate.Ready.
package bootstrap
