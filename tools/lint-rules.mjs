/** Lint rules of this project that the linter does not bring along. */
export default {
  meta: { name: 'signal-engine' },
  rules: {
    'no-current-date': {
      meta: { type: 'problem' },
      create: (context) => ({
        // `Date()` is the current date even with arguments, `new Date(…)` only without.
        CallExpression: (node) => isDate(node.callee) && context.report({ node, message: MESSAGE }),
        NewExpression: (node) =>
          isDate(node.callee) && node.arguments.length === 0 && context.report({ node, message: MESSAGE }),
      }),
    },
  },
}

const MESSAGE = 'The time is an argument: same facts, same answer, for ever.'

const isDate = (callee) => callee.type === 'Identifier' && callee.name === 'Date'
