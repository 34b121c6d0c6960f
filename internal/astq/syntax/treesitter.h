// The part of tree-sitter's C API that this package calls. The runtime is
// linked in by the Go binding (github.com/tree-sitter/go-tree-sitter v0.25.0),
// whose header cannot be included from another module; these declarations are
// of that version, and TestRuntimeVersion fails when another is linked.
#ifndef TOOLSD_TREESITTER_H
#define TOOLSD_TREESITTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint16_t TSSymbol;
typedef struct TSLanguage TSLanguage;
typedef struct TSParser TSParser;
typedef struct TSTree TSTree;

typedef struct { uint32_t row, column; } TSPoint;
typedef struct { uint32_t context[4]; const void *id; const TSTree *tree; } TSNode;
typedef struct { const void *tree; const void *id; uint32_t context[3]; } TSTreeCursor;
typedef struct { uint8_t major, minor, patch; } TSLanguageMetadata;
typedef enum { TSInputEncodingUTF8 } TSInputEncoding;

typedef struct {
  void *payload;
  const char *(*read)(void *payload, uint32_t byte, TSPoint position, uint32_t *bytes_read);
  TSInputEncoding encoding;
  uint32_t (*decode)(const uint8_t *, uint32_t, int32_t *);
} TSInput;

typedef struct { void *payload; uint32_t current_byte_offset; bool has_error; } TSParseState;
typedef struct { void *payload; bool (*progress_callback)(TSParseState *); } TSParseOptions;

TSParser *ts_parser_new(void);
void ts_parser_delete(TSParser *);
bool ts_parser_set_language(TSParser *, const TSLanguage *);
TSTree *ts_parser_parse_with_options(TSParser *, const TSTree *, TSInput, TSParseOptions);
void ts_tree_delete(TSTree *);
TSNode ts_tree_root_node(const TSTree *);

TSSymbol ts_node_symbol(TSNode);
uint32_t ts_node_start_byte(TSNode);
uint32_t ts_node_end_byte(TSNode);
bool ts_node_is_named(TSNode);
bool ts_node_is_extra(TSNode);
bool ts_node_is_error(TSNode);
bool ts_node_is_missing(TSNode);

TSTreeCursor ts_tree_cursor_new(TSNode);
void ts_tree_cursor_delete(TSTreeCursor *);
TSNode ts_tree_cursor_current_node(const TSTreeCursor *);
bool ts_tree_cursor_goto_first_child(TSTreeCursor *);
bool ts_tree_cursor_goto_next_sibling(TSTreeCursor *);
bool ts_tree_cursor_goto_parent(TSTreeCursor *);

uint32_t ts_language_abi_version(const TSLanguage *);
const TSLanguageMetadata *ts_language_metadata(const TSLanguage *);
uint32_t ts_language_symbol_count(const TSLanguage *);
const char *ts_language_symbol_name(const TSLanguage *, TSSymbol);
int ts_language_symbol_type(const TSLanguage *, TSSymbol);

void ts_set_allocator(void *(*)(size_t), void *(*)(size_t, size_t), void *(*)(void *, size_t), void (*)(void *));

#endif
