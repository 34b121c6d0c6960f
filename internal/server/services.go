package server

import (
	"google.golang.org/grpc"

	toolsdv1 "github.com/toolsd/toolsd/gen/toolsd/v1"
)

// serviceDescs are all services of the API, built or not.
func serviceDescs() []*grpc.ServiceDesc {
	return []*grpc.ServiceDesc{
		&toolsdv1.RunService_ServiceDesc,
		&toolsdv1.ToolService_ServiceDesc,
		&toolsdv1.LspService_ServiceDesc,
		&toolsdv1.FileService_ServiceDesc,
		&toolsdv1.AstService_ServiceDesc,
		&toolsdv1.DebugService_ServiceDesc,
		&toolsdv1.EvalService_ServiceDesc,
		&toolsdv1.AskService_ServiceDesc,
		&toolsdv1.VibeService_ServiceDesc,
	}
}

// registerServices puts every service of the API on the gRPC server. Those
// that are not built are there to be seen (reflection, protoset); the method
// table answers for them.
func (s *Server) registerServices() {
	toolsdv1.RegisterRunServiceServer(s.grpc, &runService{server: s})
	toolsdv1.RegisterToolServiceServer(s.grpc, &toolService{server: s})
	toolsdv1.RegisterAstServiceServer(s.grpc, s.ast)

	toolsdv1.RegisterLspServiceServer(s.grpc, toolsdv1.UnimplementedLspServiceServer{})
	toolsdv1.RegisterFileServiceServer(s.grpc, toolsdv1.UnimplementedFileServiceServer{})
	toolsdv1.RegisterDebugServiceServer(s.grpc, toolsdv1.UnimplementedDebugServiceServer{})
	toolsdv1.RegisterEvalServiceServer(s.grpc, toolsdv1.UnimplementedEvalServiceServer{})
	toolsdv1.RegisterAskServiceServer(s.grpc, toolsdv1.UnimplementedAskServiceServer{})
	toolsdv1.RegisterVibeServiceServer(s.grpc, toolsdv1.UnimplementedVibeServiceServer{})
}

// addUnbuilt gives every method of a service the rule of what is not built.
func addUnbuilt(rules map[string]rule, service *grpc.ServiceDesc) {
	add := func(name string) {
		rules["/"+service.ServiceName+"/"+name] = rule{access: accessUnbuilt}
	}
	for _, m := range service.Methods {
		add(m.MethodName)
	}
	for _, st := range service.Streams {
		add(st.StreamName)
	}
}
