// Package bootstrap is the readiness of this machine: it turns "is the toolchain
// here?" into a gate that many sessions and processes can ask at once. The
// first that needs a missing toolchain starts one install; all others are told
// that it is under way and when to come back.
//
// Start with New and Gate.Ready, which answers at once or after a short look
// with a toolchain, a NotReadyError, a DisabledError or a FailedError. A caller
// that wants to wait a little for an install waits for Gate.Changed and asks
// again. A gate with Options.Follow also replaces a managed toolchain that an
// older version, or a poorer rung, installed. Between processes the install is serialised by package toolchain.
package bootstrap
