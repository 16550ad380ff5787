// Package release is the form of a release of this program: which files it has,
// the list of their digests, and the signature of that list.
//
// cmd/release makes releases, bootstrap/upgrade and install.sh take them.
// A release is trusted in this order: Verify checks the signature of
// checksums.txt and that it was made for the version that was asked for, Parse
// reads the list, and each file is compared with its digest. The version stands
// in the signature's trusted comment, "gtagsmcp v1.2.3", so that whoever can
// change what a server sends can still not pass an old release off as a newer.
package release
