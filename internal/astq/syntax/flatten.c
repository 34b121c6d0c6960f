#include "flatten.h"

#include <stdlib.h>
#include <time.h>

// What the callbacks of one parse share.
typedef struct {
  const char *source;
  uint32_t length;
  const int32_t *cancel;
  int64_t deadline_ns;
  toolsd_status status;
} parse_state;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// should_stop is asked every hundred or so steps of the parser and every few
// thousand nodes of the flattening, so that both end within milliseconds.
static bool should_stop(parse_state *s) {
  if (__atomic_load_n(s->cancel, __ATOMIC_RELAXED)) {
    s->status = TOOLSD_STOPPED;
  } else if (now_ns() > s->deadline_ns) {
    s->status = TOOLSD_TIMED_OUT;
  }
  return s->status != TOOLSD_OK;
}

static bool on_progress(TSParseState *state) { return should_stop(state->payload); }

static const char *read_source(void *payload, uint32_t byte, TSPoint position, uint32_t *bytes_read) {
  (void)position;
  parse_state *s = payload;
  if (byte >= s->length) {
    *bytes_read = 0;
    return "";
  }
  *bytes_read = s->length - byte;
  return s->source + byte;
}

typedef struct {
  toolsd_flat flat;
  uint32_t capacity;
  uint32_t *open; // indices of the ancestors of the current node
  uint32_t open_capacity;
} builder;

// grow doubles an array when it is full; NULL when there is no memory.
static void *grow(void *array, uint32_t *capacity, uint32_t count, size_t size) {
  if (count < *capacity) return array;
  uint32_t wanted = *capacity ? *capacity * 2 : 256;
  void *larger = realloc(array, (size_t)wanted * size);
  if (larger) *capacity = wanted;
  return larger;
}

static bool push(builder *b, TSNode node, uint32_t depth) {
  void *nodes = grow(b->flat.nodes, &b->capacity, b->flat.count, sizeof(toolsd_node));
  if (!nodes) return false;
  b->flat.nodes = nodes;
  void *open = grow(b->open, &b->open_capacity, depth, sizeof(uint32_t));
  if (!open) return false;
  b->open = open;
  uint16_t flags = 0;
  if (ts_node_is_named(node)) flags |= TOOLSD_NAMED;
  if (ts_node_is_extra(node)) flags |= TOOLSD_EXTRA;
  if (ts_node_is_error(node)) flags |= TOOLSD_ERROR;
  if (ts_node_is_missing(node)) flags |= TOOLSD_MISSING;
  b->flat.nodes[b->flat.count] = (toolsd_node){
      .start = ts_node_start_byte(node), .end = ts_node_end_byte(node), .symbol = ts_node_symbol(node), .flags = flags};
  b->open[depth] = b->flat.count++;
  if (depth > b->flat.depth) b->flat.depth = depth;
  return true;
}

static toolsd_status flatten(TSTree *tree, parse_state *s, builder *b) {
  TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
  toolsd_status status = TOOLSD_OK;
  uint32_t depth = 0;
  for (bool descending = true;;) {
    if (descending) {
      if (!push(b, ts_tree_cursor_current_node(&cursor), depth)) {
        status = TOOLSD_NO_MEMORY;
        break;
      }
      if ((b->flat.count & 4095) == 0 && should_stop(s)) {
        status = s->status;
        break;
      }
      if (ts_tree_cursor_goto_first_child(&cursor)) {
        depth++;
        continue;
      }
    }
    b->flat.nodes[b->open[depth]].next = b->flat.count;
    if (ts_tree_cursor_goto_next_sibling(&cursor)) {
      descending = true;
      continue;
    }
    if (!ts_tree_cursor_goto_parent(&cursor)) break;
    depth--;
    descending = false;
  }
  ts_tree_cursor_delete(&cursor);
  return status;
}

static toolsd_status parse_and_flatten(TSParser *parser, const TSLanguage *language, parse_state *s, builder *b) {
  if (!ts_parser_set_language(parser, language)) return TOOLSD_BAD_LANGUAGE;
  TSInput input = {.payload = s, .read = read_source, .encoding = TSInputEncodingUTF8};
  TSParseOptions options = {.payload = s, .progress_callback = on_progress};
  TSTree *tree = ts_parser_parse_with_options(parser, NULL, input, options);
  if (!tree) return s->status == TOOLSD_OK ? TOOLSD_NO_MEMORY : s->status;
  toolsd_status status = flatten(tree, s, b);
  ts_tree_delete(tree);
  return status;
}

toolsd_status toolsd_parse(const TSLanguage *language, const char *source, uint32_t length,
                           const int32_t *cancel, int64_t budget_ns, toolsd_flat *out) {
  parse_state state = {
      .source = source, .length = length, .cancel = cancel, .deadline_ns = now_ns() + budget_ns, .status = TOOLSD_OK};
  builder b = {0};
  TSParser *parser = ts_parser_new();
  toolsd_status status = parse_and_flatten(parser, language, &state, &b);
  ts_parser_delete(parser);
  free(b.open);
  if (status != TOOLSD_OK) {
    free(b.flat.nodes);
    return status;
  }
  *out = b.flat;
  return TOOLSD_OK;
}
