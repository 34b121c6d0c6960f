#ifndef TOOLSD_FLATTEN_H
#define TOOLSD_FLATTEN_H

#include "treesitter.h"

// A node of a flat tree, 16 bytes; Node in tree.go has the same layout. Nodes
// stand in pre-order; next is the index after the node's last descendant.
typedef struct {
  uint32_t start, end, next;
  uint16_t symbol, flags;
} toolsd_node;

enum { TOOLSD_NAMED = 1, TOOLSD_EXTRA = 2, TOOLSD_ERROR = 4, TOOLSD_MISSING = 8 };

typedef struct {
  toolsd_node *nodes; // to be freed with free()
  uint32_t count;
  uint32_t depth; // of the deepest node; the root has 0
} toolsd_flat;

typedef enum {
  TOOLSD_OK,
  TOOLSD_STOPPED,   // *cancel became non-zero
  TOOLSD_TIMED_OUT, // the time was used up
  TOOLSD_NO_MEMORY,
  TOOLSD_BAD_LANGUAGE,
} toolsd_status;

// Parses source and flattens the tree, in one call from Go. It stops when
// *cancel becomes non-zero and after budget_ns. out is filled in only on
// TOOLSD_OK. Depth of the source costs heap, never stack.
toolsd_status toolsd_parse(const TSLanguage *language, const char *source, uint32_t length,
                           const int32_t *cancel, int64_t budget_ns, toolsd_flat *out);

#endif
