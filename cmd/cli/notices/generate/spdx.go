package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// release is that whose bill of materials is written.
type release struct {
	version  string // of the program
	revision string // the commit
	created  string // date of the commit, RFC 3339 in UTC
}

var hexadecimal = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// check refuses a release without a version, a commit or its date.
func (r *release) check() error {
	if r.version == "" || !hexadecimal.MatchString(r.revision) {
		return errors.New("-spdx needs -version and -revision, a commit")
	}
	t, err := time.Parse(time.RFC3339, r.created)
	if err != nil {
		return fmt.Errorf("-created: %w", err)
	}
	r.created = t.UTC().Format(time.RFC3339)
	return nil
}

// The parts of a document of SPDX 2.3 in JSON (https://spdx.github.io/spdx-spec/v2.3).
type (
	spdxDocument struct {
		Version       string             `json:"spdxVersion"`
		DataLicence   string             `json:"dataLicense"`
		ID            string             `json:"SPDXID"`
		Name          string             `json:"name"`
		Namespace     string             `json:"documentNamespace"`
		Creation      spdxCreation       `json:"creationInfo"`
		Packages      []spdxPackage      `json:"packages"`
		Relationships []spdxRelationship `json:"relationships"`
		Extracted     []spdxText         `json:"hasExtractedLicensingInfos,omitempty"`
	}
	spdxCreation struct {
		Created  string   `json:"created"`
		Creators []string `json:"creators"`
	}
	spdxPackage struct {
		ID        string         `json:"SPDXID"`
		Name      string         `json:"name"`
		Version   string         `json:"versionInfo,omitempty"`
		Location  string         `json:"downloadLocation"`
		Analysed  bool           `json:"filesAnalyzed"`
		Concluded string         `json:"licenseConcluded"`
		Declared  string         `json:"licenseDeclared"`
		Copyright string         `json:"copyrightText"`
		Others    []spdxExternal `json:"externalRefs,omitempty"`
	}
	spdxExternal struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	// spdxText is a licence that SPDX has no identifier for.
	spdxText struct {
		ID   string `json:"licenseId"`
		Text string `json:"extractedText"`
	}
	spdxRelationship struct {
		Of   string `json:"spdxElementId"`
		Kind string `json:"relationshipType"`
		To   string `json:"relatedSpdxElement"`
	}
)

// noAssertion is the word of SPDX for a property that was not determined.
const noAssertion = "NOASSERTION"

// notInID are the characters that an identifier may not have.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// writeSPDX writes the bill of materials of a release: the program, and each module with its version and licences.
func writeSPDX(out io.Writer, works []work, r release) error {
	d := spdxDocument{Version: "SPDX-2.3", DataLicence: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: program + "-" + r.version,
		Namespace: "urn:privkern:" + r.version + ":" + r.revision,
		Creation:  spdxCreation{Created: r.created, Creators: []string{"Tool: privkern-notices"}}}
	for _, w := range works {
		var ids []string
		for _, t := range w.texts {
			ids = append(ids, t.ids...)
			for _, id := range t.ids {
				if strings.HasPrefix(id, "LicenseRef-") && !slices.ContainsFunc(d.Extracted,
					func(x spdxText) bool { return x.ID == id }) {
					d.Extracted = append(d.Extracted, spdxText{id, t.body})
				}
			}
		}
		slices.Sort(ids)
		licences := strings.Join(slices.Compact(ids), " AND ")
		p := spdxPackage{ID: "SPDXRef-" + notInID.ReplaceAllString(w.name, "-"), Name: w.name, Version: w.version,
			Location: noAssertion, Concluded: licences, Declared: licences, Copyright: noAssertion}
		switch w.name {
		case program:
			p.Version = r.version
			d.Relationships = append(d.Relationships, spdxRelationship{d.ID, "DESCRIBES", p.ID})
		case library:
			p.ID, p.Name, p.Version = "SPDXRef-go", "go", strings.TrimPrefix(runtime.Version(), "go")
		default:
			p.Others = []spdxExternal{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + w.name + "@" + w.version}}
		}
		if w.name != program {
			d.Relationships = append(d.Relationships, spdxRelationship{"SPDXRef-" + program, "DEPENDS_ON", p.ID})
		}
		d.Packages = append(d.Packages, p)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}
