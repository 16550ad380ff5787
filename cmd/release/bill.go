package main

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"time"

	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"

	"github.com/gtagsmcp/gtagsmcp/bootstrap/release"
)

// component is a module, or Go's standard library, that is linked into a program.
type component struct{ name, version string }

// writeBill writes what the programs are made of, as SPDX 2.3. The list is read
// from the programs themselves, where the linker put it, so it can neither lack
// a module nor name one that only the tests use.
func writeBill(path, tag string, date time.Time, programs []string) error {
	found := map[component]bool{}
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		found[component{"stdlib", info.GoVersion}] = true
		for _, dep := range info.Deps {
			if dep.Replace != nil {
				return fmt.Errorf("%s replaces %s: a release is built from the modules that go.mod names", program, dep.Path)
			}
			found[component{dep.Path, dep.Version}] = true
		}
	}
	var out bytes.Buffer
	if err := spdxjson.Write(bill(tag, date, found), &out, spdxjson.Indent("  ")); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

const (
	noAssertion = "NOASSERTION"
	programID   = "Package-gtagsmcp"
)

func bill(tag string, date time.Time, found map[component]bool) *spdx.Document {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName:      release.Program + " " + tag,
		DocumentNamespace: fmt.Sprintf("https://%s/releases/download/%s/%s", module, tag, release.BillFile),
		CreationInfo: &spdx.CreationInfo{
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: release.Program + "-release-" + tag}},
			Created:  date.Format(time.RFC3339),
		},
		Packages: []*spdx.Package{billed(programID, component{module, tag}, "MIT")},
		Relationships: []*spdx.Relationship{{
			RefA: common.MakeDocElementID("", "DOCUMENT"), RefB: common.MakeDocElementID("", programID),
			Relationship: common.TypeRelationshipDescribe,
		}},
	}
	doc.Packages[0].PrimaryPackagePurpose = "APPLICATION"
	sorted := slices.SortedFunc(maps.Keys(found), func(a, b component) int {
		return slices.Compare([]string{a.name, a.version}, []string{b.name, b.version})
	})
	for n, c := range sorted {
		// The number keeps names apart that the characters of an identifier do not.
		id := fmt.Sprintf("Package-%d-%s", n+1, notInID.ReplaceAllString(c.name, "-"))
		doc.Packages = append(doc.Packages, billed(id, c, noAssertion))
		doc.Relationships = append(doc.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", programID), RefB: common.MakeDocElementID("", id),
			Relationship: common.TypeRelationshipDependsOn,
		})
	}
	return doc
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func billed(id string, c component, licence string) *spdx.Package {
	return &spdx.Package{
		PackageName: c.name, PackageSPDXIdentifier: spdx.ElementID(id), PackageVersion: c.version,
		PackageDownloadLocation: noAssertion, PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: licence,
		PackageCopyrightText: noAssertion,
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL,
			Locator: "pkg:golang/" + c.name + "@" + c.version,
		}},
	}
}
