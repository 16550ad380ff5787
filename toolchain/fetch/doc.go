// Package fetch downloads files whose size and digest are known beforehand, and
// finds releases of a GitHub repository.
//
// Start with New, then Client.Fetch for a pinned asset. A download is called
// NAME.unverified until its size and SHA-256 match the pins; only then does it
// get its name, so a file called NAME is always the pinned one, whoever served
// it and however often the connection broke.
//
// Client.Latest, Client.Release and Client.Releases ask GitHub's API and fall
// back to the plain release pages, which have no rate limit. What they return is
// a claim of a server: only the pins of Fetch decide what is used.
//
// Nothing here has a limit on the whole time, since links differ a thousandfold;
// the limit is on the time in which too few bytes arrive (Options.Stall).
package fetch
