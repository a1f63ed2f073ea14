package decl

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"contextful/ref/fault"
	"contextful/ref/key"
)

// FileName is the declaration's name in a project directory.
const FileName = "contextful.toml"

// Where says where to look for a project. ProjectDir (--project) is taken as it is; DeclarationPath (--declaration) names
// the file itself; with neither, the nearest contextful.toml from StartDir upward counts. Relative paths refer to StartDir.
type Where struct {
	StartDir        string
	ProjectDir      string
	DeclarationPath string
}

// LoadProject finds, reads and validates a project; files nil reads the machine's own. Errors: ProjectNotFound,
// StoreDeclarationInvalid, StoreTypeUnknown.
func LoadProject(files Files, where Where) (*Project, error) {
	if files == nil {
		files = OSFiles{}
	}
	file, err := find(files, where)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.ProjectNotFound, file, file+" does not exist").WithHint("contextful init <name> makes a project here")
	}
	if err != nil {
		return nil, invalid(file, "cannot be read").Wrap(err)
	}
	project, err := ParseProject(file, data)
	if err != nil {
		return nil, err
	}
	if where.ProjectDir != "" {
		project.Dir = absolute(where.StartDir, where.ProjectDir)
	}
	if err := addPipelineFiles(files, project, filepath.Join(filepath.Dir(file), "pipelines")); err != nil {
		return nil, err
	}
	return project, nil
}

// ParseProject reads one declaration file without those beside it. path must be absolute; it also gives the project's directory.
func ParseProject(path string, data []byte) (*Project, error) {
	var doc fileDoc
	if err := decodeStrict(path, data, &doc); err != nil {
		return nil, err
	}
	if doc.Project == nil {
		return nil, invalid(path, "declares no [project]").WithHint("contextful init <name> adds one and keeps the file's bytes")
	}
	if err := key.ValidProject(doc.Project.Name); err != nil {
		return nil, invalid(path, "[project]: %s", reason(err))
	}
	project := &Project{Dir: filepath.Dir(path), Path: path, Name: doc.Project.Name}
	if err := project.merge(path, &doc); err != nil {
		return nil, err
	}
	return project, nil
}

// ProjectName says whether a declaration file declares a project key, and its name: what init asks before it appends.
func ProjectName(path string, data []byte) (name string, declared bool, err error) {
	var doc fileDoc
	if err := decodeStrict(path, data, &doc); err != nil {
		return "", false, err
	}
	if doc.Project == nil {
		return "", false, nil
	}
	return doc.Project.Name, true, nil
}

// StoreRoot is the absolute directory of the project's store: <project>/.contextful/context/<name>.
func (p *Project) StoreRoot() string {
	return filepath.FromSlash(key.StoreRoot(filepath.ToSlash(p.Dir), p.Name))
}

// find gives the absolute path of the declaration file.
func find(files Files, where Where) (string, error) {
	if where.DeclarationPath != "" {
		return absolute(where.StartDir, where.DeclarationPath), nil
	}
	if where.ProjectDir != "" {
		return filepath.Join(absolute(where.StartDir, where.ProjectDir), FileName), nil
	}
	for dir := filepath.Clean(where.StartDir); ; dir = filepath.Dir(dir) {
		candidate := filepath.Join(dir, FileName)
		// An unreadable file is still the nearest one: going further up would answer for another project.
		if _, err := files.ReadFile(candidate); !errors.Is(err, fs.ErrNotExist) {
			return candidate, nil
		}
		if parent := filepath.Dir(dir); parent == dir {
			return "", fault.New(fault.ProjectNotFound, where.StartDir, "no "+FileName+" in "+where.StartDir+" or above it").
				WithHint("contextful init <name> makes a project here")
		}
	}
}

func absolute(start, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(start, name)
}

func addPipelineFiles(files Files, project *Project, dir string) error {
	entries, err := files.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return invalid(dir, "cannot be listed").Wrap(err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && strings.HasSuffix(e.Name(), ".toml") && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	for _, name := range names {
		file := filepath.Join(dir, name)
		data, err := files.ReadFile(file)
		if err != nil {
			return invalid(file, "cannot be read").Wrap(err)
		}
		var doc fileDoc
		if err := decodeStrict(file, data, &doc); err != nil {
			return err
		}
		if doc.Project != nil {
			return invalid(file, "declares [project], which belongs to %s alone", FileName)
		}
		if err := project.merge(file, &doc); err != nil {
			return err
		}
	}
	return nil
}
