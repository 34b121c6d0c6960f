package server

import (
	"slices"
	"time"

	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
	"github.com/toolsd/toolsd/internal/session"
)

// access says how much of the way a method's calls go through.
type access int

const (
	// accessOpen needs no credentials: health only.
	accessOpen access = iota + 1
	// accessPrincipal needs a known caller.
	accessPrincipal
	// accessRun needs a live run of the caller, and counts as a call in it.
	accessRun
	// accessUnbuilt is defined in the API and not built yet.
	accessUnbuilt
)

// limiterKind names the bound on calls in flight that a method counts
// against.
type limiterKind int

const (
	// limitTool is for tool calls: a bound for the daemon and one for each run.
	// The zero value is no bound, for calls that cost next to nothing.
	limitTool limiterKind = iota + 1
)

// rule is what one method demands. Tiers are the tools' own (session
// .Requirement): a typed RPC carries its tool's name, ToolService.Call finds
// the tool in its request.
type rule struct {
	access   access
	tool     string        // of a typed RPC behind one tool
	deadline time.Duration // longest time of a call; a caller's shorter one wins; 0 for streams without an end
	limiter  limiterKind
}

// Deadlines of methods.
const (
	quickDeadline  = 30 * time.Second // answers from memory
	attachDeadline = 2 * time.Minute  // starts and ends resources
	searchDeadline = 10 * time.Minute // reads a workspace; search has its own shorter budget
)

// unbuiltServices are defined in proto so that the API can be seen whole.
func unbuiltServices() []string {
	return []string{
		toolsdv1.LspService_ServiceDesc.ServiceName,
		toolsdv1.FileService_ServiceDesc.ServiceName,
		toolsdv1.DebugService_ServiceDesc.ServiceName,
		toolsdv1.EvalService_ServiceDesc.ServiceName,
		toolsdv1.AskService_ServiceDesc.ServiceName,
		toolsdv1.VibeService_ServiceDesc.ServiceName,
	}
}

// methodRules is the one table of methods. A method that is not in it is
// refused, whoever registered it; a test walks all services.
func methodRules() map[string]rule {
	rules := map[string]rule{
		toolsdv1.RunService_CreateRun_FullMethodName:     {access: accessPrincipal, deadline: attachDeadline},
		toolsdv1.RunService_GetRun_FullMethodName:        {access: accessPrincipal, deadline: quickDeadline},
		toolsdv1.RunService_ListRuns_FullMethodName:      {access: accessPrincipal, deadline: quickDeadline},
		toolsdv1.RunService_UpdateRun_FullMethodName:     {access: accessPrincipal, deadline: quickDeadline},
		toolsdv1.RunService_CloseRun_FullMethodName:      {access: accessPrincipal, deadline: attachDeadline},
		toolsdv1.RunService_ListTools_FullMethodName:     {access: accessPrincipal, deadline: quickDeadline},
		toolsdv1.RunService_GetServerInfo_FullMethodName: {access: accessPrincipal, deadline: quickDeadline},

		toolsdv1.ToolService_Call_FullMethodName: {access: accessRun, limiter: limitTool},

		toolsdv1.AstService_Grep_FullMethodName:    {access: accessRun, tool: toolAstGrep, deadline: searchDeadline, limiter: limitTool},
		toolsdv1.AstService_Edit_FullMethodName:    {access: accessRun, tool: toolAstEdit, deadline: searchDeadline, limiter: limitTool},
		toolsdv1.AstService_Resolve_FullMethodName: {access: accessRun, tool: toolResolve, deadline: searchDeadline, limiter: limitTool},

		healthv1.Health_Check_FullMethodName: {access: accessOpen, deadline: quickDeadline},
		healthv1.Health_List_FullMethodName:  {access: accessOpen, deadline: quickDeadline},
		healthv1.Health_Watch_FullMethodName: {access: accessOpen},

		reflectionv1.ServerReflection_ServerReflectionInfo_FullMethodName:      {access: accessPrincipal},
		reflectionv1alpha.ServerReflection_ServerReflectionInfo_FullMethodName: {access: accessPrincipal},
	}
	for _, service := range serviceDescs() {
		if isUnbuilt(service.ServiceName) {
			addUnbuilt(rules, service)
		}
	}
	return rules
}

func isUnbuilt(service string) bool { return slices.Contains(unbuiltServices(), service) }

// requires is what a tool demands of a run that serves it a workspace; see
// package session for what the parts mean.
func requires(tier session.Tier, kind session.Kind) session.Requirement {
	return session.Requirement{Tier: tier, Kind: kind, Workspace: true}
}
