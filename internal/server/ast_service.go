package server

import (
	"context"
	"fmt"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/astq"
	"github.com/toolsd/toolsd/internal/session"
)

// Names of the tools of structural search.
const (
	toolAstGrep = "ast_grep"
	toolAstEdit = "ast_edit"
	toolResolve = "resolve"
)

// astService is structural search over gRPC.
type astService struct {
	toolsdv1.UnimplementedAstServiceServer
}

// patternRules are what a model must know of patterns, for both tools.
const patternRules = "The pattern is a fragment of code in the language of the files: $NAME stands for any one node (an expression, " +
	"a name, a statement), $$$NAME for a run of siblings (arguments, statements), $_ for anything. A name used twice must match the same " +
	"text. Layout and comments never matter; strings and comments are never searched. The fragment must be whole: a statement, an " +
	"expression, a class member, a declaration. " +
	"Give language when path is a folder, a glob or left out."

// tools binds the tools of structural search to their RPCs.
func (s *astService) tools() []*tool {
	return []*tool{
		bind(tool{
			name: toolAstGrep, need: requires(session.TierRead, session.KindAST), parallelSafe: true,
			method: toolsdv1.AstService_Grep_FullMethodName,
			description: "Find code by its shape, not by its text. " + patternRules +
				" Example: pattern \"if ($X != null) $X.dispose()\", language \"dart\" finds guards that dispose what they checked.",
		}, s.Grep),
		bind(tool{
			name: toolAstEdit, need: requires(session.TierWrite, session.KindAST), parallelSafe: true,
			method: toolsdv1.AstService_Edit_FullMethodName,
			description: "Stage a rewrite of all code of a shape. Nothing is written: the result shows the diff and an edit_id for the tool " +
				"resolve. " + patternRules + " In rewrite, $NAME and $$$NAME stand for what the pattern captured. " +
				"Example: pattern \"dispose($X)\", rewrite \"$X.dispose()\", language \"dart\".",
		}, s.Edit),
		bind(tool{
			name: toolResolve, need: requires(session.TierWrite, session.KindAST), parallelSafe: false,
			method: toolsdv1.AstService_Resolve_FullMethodName,
			description: "Accept or discard an edit that ast_edit staged. Accept writes all of its files or none: if any of them changed " +
				"since the edit was staged, the edit is rejected and must be staged again.",
		}, s.Resolve),
	}
}

// Grep finds code by shape. Tool: ast_grep.
func (s *astService) Grep(ctx context.Context, request *toolsdv1.AstServiceGrepRequest) (*toolsdv1.AstServiceGrepResponse, error) {
	search, err := astSession(ctx)
	if err != nil {
		return nil, err
	}
	result, err := search.Grep(ctx, astq.GrepQuery{
		Pattern: request.GetPattern(), Path: request.GetPath(), Language: request.GetLanguage(), MaxResults: request.MaxResults,
	})
	if err != nil {
		return nil, err
	}
	matches, left := matchesToProto(result.Matches)
	return &toolsdv1.AstServiceGrepResponse{
		Text:    validUTF8(result.Text()),
		Matches: matches,
		Omitted: int64(result.Omitted + left),
		Reading: &toolsdv1.PatternReading{Language: result.Reading.Language, Context: result.Reading.Context, Kinds: result.Reading.Kinds},
		Stats:   statsToProto(result.Stats),
	}, nil
}

// Edit stages a rewrite. Tool: ast_edit.
func (s *astService) Edit(ctx context.Context, request *toolsdv1.AstServiceEditRequest) (*toolsdv1.AstServiceEditResponse, error) {
	search, err := astSession(ctx)
	if err != nil {
		return nil, err
	}
	proposal, err := search.Edit(ctx, astq.EditQuery{
		Pattern: request.GetPattern(), Rewrite: request.GetRewrite(), Path: request.GetPath(), Language: request.GetLanguage(),
	})
	if err != nil {
		return nil, err
	}
	return &toolsdv1.AstServiceEditResponse{
		Text:              validUTF8(proposal.Text()),
		EditId:            proposal.ID,
		Files:             fileEditsToProto(proposal.Files),
		Replacements:      int64(proposal.Replacements),
		NestedMatchesLeft: int64(proposal.Nested),
		UnchangedMatches:  int64(proposal.Unchanged),
		NewSyntaxErrors:   placesToProto(proposal.NewErrors),
		LostComments:      placesToProto(proposal.LostComments),
		Stats:             statsToProto(proposal.Stats),
	}, nil
}

// Resolve accepts or discards a staged edit. Tool: resolve.
func (s *astService) Resolve(ctx context.Context, request *toolsdv1.AstServiceResolveRequest) (*toolsdv1.AstServiceResolveResponse, error) {
	search, err := astSession(ctx)
	if err != nil {
		return nil, err
	}
	// The enum's numbers are the family's; one that is in neither is refused there.
	resolution, err := search.Resolve(ctx, request.GetEditId(), astq.Action(request.GetAction()))
	if err != nil {
		return nil, err
	}
	return &toolsdv1.AstServiceResolveResponse{
		Text:         validUTF8(resolution.Text()),
		Action:       request.GetAction(),
		Files:        fileEditsToProto(resolution.Files),
		Replacements: int64(resolution.Replacements),
	}, nil
}

// astSession returns the structural search of the call's run. The stages have
// checked that it is attached.
func astSession(ctx context.Context) (*astq.Session, error) {
	resource, _ := runFrom(ctx).Resource(session.KindAST)
	search, ok := resource.(*astq.Session)
	if !ok {
		return nil, fmt.Errorf("the run's %s resource is a %T", session.KindAST, resource)
	}
	return search, nil
}
