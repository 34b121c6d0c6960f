package server

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/session"
	"github.com/toolsd/toolsd/internal/toolerr"
)

// runService makes, describes and ends runs.
type runService struct {
	toolsdv1.UnimplementedRunServiceServer
	server *Server
}

// CreateRun creates a run with everything it declares, or nothing.
func (s *runService) CreateRun(ctx context.Context, request *toolsdv1.CreateRunRequest) (*toolsdv1.CreateRunResponse, error) {
	spec, err := specFromProto(request)
	if err != nil {
		return nil, err
	}
	run, err := s.server.runs.Create(ctx, callFrom(ctx).principal, spec)
	if err != nil {
		return nil, err
	}
	callFrom(ctx).runID = run.ID() // the log's line of this call is the first to name it
	return &toolsdv1.CreateRunResponse{Run: runToProto(run.Info())}, nil
}

// GetRun describes one run.
func (s *runService) GetRun(ctx context.Context, request *toolsdv1.GetRunRequest) (*toolsdv1.GetRunResponse, error) {
	run, err := s.get(ctx, request.GetRunId())
	if err != nil {
		return nil, err
	}
	return &toolsdv1.GetRunResponse{Run: runToProto(run.Info())}, nil
}

// ListRuns lists a page of the caller's own runs.
func (s *runService) ListRuns(ctx context.Context, request *toolsdv1.ListRunsRequest) (*toolsdv1.ListRunsResponse, error) {
	page, next, err := s.server.runs.List(callFrom(ctx).principal, int(request.GetPageSize()), request.GetPageToken())
	if err != nil {
		return nil, err
	}
	response := &toolsdv1.ListRunsResponse{NextPageToken: next}
	for _, run := range page {
		response.Runs = append(response.Runs, runToProto(run.Info()))
	}
	return response, nil
}

// UpdateRun moves a run's ceiling.
func (s *runService) UpdateRun(ctx context.Context, request *toolsdv1.UpdateRunRequest) (*toolsdv1.UpdateRunResponse, error) {
	run, err := s.server.runs.Update(callFrom(ctx).principal, request.GetRunId(), tierFromProto(request.GetMaxTier()))
	if err != nil {
		return nil, err
	}
	return &toolsdv1.UpdateRunResponse{Run: runToProto(run.Info())}, nil
}

// CloseRun ends a run and everything it owns.
func (s *runService) CloseRun(ctx context.Context, request *toolsdv1.CloseRunRequest) (*toolsdv1.CloseRunResponse, error) {
	if err := s.server.runs.Close(ctx, callFrom(ctx).principal, request.GetRunId()); err != nil {
		return nil, err
	}
	return &toolsdv1.CloseRunResponse{}, nil
}

// ListTools lists the tools that exist for a run now.
func (s *runService) ListTools(ctx context.Context, request *toolsdv1.ListToolsRequest) (*toolsdv1.ListToolsResponse, error) {
	run, err := s.get(ctx, request.GetRunId())
	if err != nil {
		return nil, err
	}
	response := &toolsdv1.ListToolsResponse{}
	for _, t := range s.server.tools.list(run) {
		response.Tools = append(response.Tools, t.describe())
	}
	return response, nil
}

// GetServerInfo describes the daemon.
func (s *runService) GetServerInfo(context.Context, *toolsdv1.GetServerInfoRequest) (*toolsdv1.GetServerInfoResponse, error) {
	info := s.server.info
	response := &toolsdv1.GetServerInfoResponse{
		Version:  info.Version,
		Replica:  info.Replica,
		Limits:   info.Limits,
		Grammars: grammarsToProto(s.server.engine),
	}
	for _, kind := range info.Resources {
		response.Resources = append(response.Resources, kindToProto[kind])
	}
	slices.Sort(response.GetResources())
	return response, nil
}

func (s *runService) get(ctx context.Context, id string) (*session.Run, error) {
	return s.server.runs.Get(callFrom(ctx).principal, id)
}

// kindToProto names the resources.
var kindToProto = map[session.Kind]toolsdv1.ResourceKind{
	session.KindLSP:   toolsdv1.ResourceKind_RESOURCE_KIND_LSP,
	session.KindFiles: toolsdv1.ResourceKind_RESOURCE_KIND_FILES,
	session.KindAST:   toolsdv1.ResourceKind_RESOURCE_KIND_AST,
	session.KindDebug: toolsdv1.ResourceKind_RESOURCE_KIND_DEBUG,
	session.KindEval:  toolsdv1.ResourceKind_RESOURCE_KIND_EVAL,
	session.KindAsk:   toolsdv1.ResourceKind_RESOURCE_KIND_ASK,
	session.KindVibe:  toolsdv1.ResourceKind_RESOURCE_KIND_VIBE,
}

func specFromProto(request *toolsdv1.CreateRunRequest) (session.Spec, error) {
	spec := session.Spec{
		RunID:          request.GetRunId(),
		ConversationID: request.GetConversationId(),
		WorkspaceRoot:  request.GetWorkspaceRoot(),
		ParentRunID:    request.GetParentRunId(),
		Ceiling:        tierFromProto(request.GetMaxTier()),
		Resources:      resourcesFromProto(request.GetResources()),
		Env:            request.GetEnv(),
		Labels:         request.GetLabels(),
	}
	if ttl := request.GetIdleTtl(); ttl != nil {
		if err := ttl.CheckValid(); err != nil {
			return session.Spec{}, toolerr.BadArgument("idle_ttl", "is no duration: %v", err)
		}
		if ttl.AsDuration() <= 0 {
			return session.Spec{}, toolerr.BadArgument("idle_ttl", "must be above zero; leave it out for the default")
		}
		spec.IdleTTL = ttl.AsDuration()
	}
	return spec, nil
}

// resourcesFromProto takes the presence of a message as the wish to attach.
func resourcesFromProto(resources *toolsdv1.Resources) map[session.Kind]any {
	declared := map[session.Kind]bool{
		session.KindLSP:   resources.GetLsp() != nil,
		session.KindFiles: resources.GetFiles() != nil,
		session.KindAST:   resources.GetAst() != nil,
		session.KindDebug: resources.GetDebug() != nil,
		session.KindEval:  resources.GetEval() != nil,
		session.KindAsk:   resources.GetAsk() != nil,
		session.KindVibe:  resources.GetVibe() != nil,
	}
	out := map[session.Kind]any{}
	for kind, wanted := range declared {
		if wanted {
			out[kind] = nil
		}
	}
	return out
}

func runToProto(info session.Info) *toolsdv1.Run {
	run := &toolsdv1.Run{
		RunId:          info.ID,
		Replica:        info.Replica,
		ConversationId: info.ConversationID,
		WorkspaceRoot:  validUTF8(info.WorkspaceRoot),
		MaxTier:        tierToProto(info.Ceiling),
		Labels:         info.Labels,
		IdleTtl:        durationpb.New(info.IdleTTL),
		ParentRunId:    info.ParentID,
		CreateTime:     timestamppb.New(info.Created),
		CallsInFlight:  int32(info.InFlight), //nolint:gosec // bounded by max_calls
	}
	for _, kind := range info.Kinds {
		run.Resources = append(run.Resources, kindToProto[kind])
	}
	return run
}

// The tiers of session and of the API are the same, in the same order; a
// value that is in neither stays outside, and session refuses it.
func tierFromProto(t toolsdv1.Tier) session.Tier { return session.Tier(t) }

func tierToProto(t session.Tier) toolsdv1.Tier {
	return toolsdv1.Tier(t) //nolint:gosec // a tier is one of three
}
