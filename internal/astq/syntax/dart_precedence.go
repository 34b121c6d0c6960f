package syntax

// climber turns a row of operands and operators into nested expressions, by
// precedence, all to the left.
type climber struct {
	nodes        []Node
	operands     []operand
	operators    []pending
	built        []builtHeader
	wantsOperand bool
	broken       bool
}

// builtHeader is an expression that was made, and the node it begins with.
type builtHeader struct {
	first  int
	header header
}

// operand takes the next operand.
func (c *climber) operand(i int, n *Node) {
	c.operands = append(c.operands, operand{first: i, closeAt: n.Next, end: n.End})
	c.wantsOperand = false
}

// extend takes a selector of the operand before it.
func (c *climber) extend(n *Node) {
	if c.wantsOperand || len(c.operands) == 0 {
		c.broken = true
		return
	}
	last := &c.operands[len(c.operands)-1]
	last.closeAt, last.end = n.Next, n.End
}

// operator takes an infix operator.
func (c *climber) operator(op pending) {
	c.reduce(op.precedence)
	c.operators = append(c.operators, op)
	c.wantsOperand = true
}

// suffix takes an operator without a right operand.
func (c *climber) suffix(op pending, n *Node) {
	if c.wantsOperand || len(c.operands) == 0 {
		c.broken = true
		return
	}
	c.reduce(op.precedence)
	last := c.operands[len(c.operands)-1]
	c.operands[len(c.operands)-1] = c.make(op.symbol, last, operand{closeAt: n.Next, end: n.End})
}

// reduce makes the expressions that bind at least as strongly as precedence.
func (c *climber) reduce(precedence int) {
	for len(c.operators) > 0 && c.operators[len(c.operators)-1].precedence >= precedence && len(c.operands) > 1 {
		op := c.operators[len(c.operators)-1]
		c.operators = c.operators[:len(c.operators)-1]
		left, right := c.operands[len(c.operands)-2], c.operands[len(c.operands)-1]
		c.operands = append(c.operands[:len(c.operands)-2], c.make(op.symbol, left, right))
	}
}

func (c *climber) make(symbol Symbol, left, right operand) operand {
	c.built = append(c.built, builtHeader{first: left.first, header: header{
		symbol: symbol, start: c.nodes[left.first].Start, end: right.end, closeAt: right.closeAt,
	}})
	return operand{first: left.first, closeAt: right.closeAt, end: right.end}
}

// finish returns the expressions, inner before outer, or false when the row
// was no row of operands and operators.
func (c *climber) finish() ([]builtHeader, bool) {
	c.reduce(0)
	if c.broken || c.wantsOperand || len(c.operands) != 1 || len(c.operators) != 0 {
		return nil, false
	}
	return c.built, true
}
