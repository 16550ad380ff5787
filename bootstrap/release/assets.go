package release

import "fmt"

// Owner and Name are the repository whose releases these are. Releases of the
// toolchain live there too, with tags of their own.
const Owner, Name = "gtagsmcp", "gtagsmcp"

// Files of a release beside the archives.
const (
	SumsFile      = "checksums.txt"
	SignatureFile = "checksums.txt.minisig"
	BundleFile    = "gtagsmcp.mcpb"
	RegistryFile  = "server.json"
	InstallerFile = "install.sh"
	BillFile      = "sbom.spdx.json" // the software bill of materials
)

// Program is the name of the executable inside an archive.
const Program = "gtagsmcp"

// Platform is an operating system and an architecture, as Go names them.
type Platform struct{ OS, Arch string }

// Platforms are those with an archive.
var Platforms = []Platform{{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}}

func (p Platform) String() string { return p.OS + "-" + p.Arch }

// Archive is the name of the platform's archive.
func (p Platform) Archive() string { return fmt.Sprintf("%s-%s-%s.tar.gz", Program, p.OS, p.Arch) }

// Assets are the files that checksums.txt lists, in its order.
func Assets() []string {
	var names []string
	for _, p := range Platforms {
		names = append(names, p.Archive())
	}
	return append(names, BundleFile, InstallerFile, BillFile, RegistryFile)
}
