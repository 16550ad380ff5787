package release

import (
	"fmt"

	goversion "github.com/hashicorp/go-version"
)

// ParseVersion reads a version with or without its "v", and returns it together
// with the tag of its release. Only three numbers, and a prerelease after "-",
// are a version of ours: metadata after "+" would not be compared.
func ParseVersion(text string) (v *goversion.Version, tag string, err error) {
	v, err = goversion.NewSemver(text)
	if err != nil || len(text) == 0 {
		return nil, "", fmt.Errorf("%q is no version such as v1.2.3 or v1.2.3-rc.1", text)
	}
	if tag = "v" + v.String(); v.Metadata() != "" || text != tag && text != v.String() {
		return nil, "", fmt.Errorf("%q is no version such as v1.2.3 or v1.2.3-rc.1", text)
	}
	return v, tag, nil
}
