import type { Plugin } from 'vite'

/**
 * Vitest keeps what a module exports behind getters, on an object whose properties V8 looks up by name each time: a loop
 * that only calls small functions of another module takes some eight times as long as in Node. Nothing that is exported
 * here ever changes, so after its module has run each getter makes way for its value.
 */
export const quickImports = (): Plugin => ({
  name: 'quick-imports',
  enforce: 'post',
  transform: (code, id) => {
    if (!id.endsWith('.ts') || id.includes('/node_modules/')) return undefined
    if (/^export (let|var) /m.test(code)) throw new Error(`${id} exports a variable: export a function`)
    return { code: `${code}\n${SETTLE_EXPORTS}`, map: null }
  },
})

// Undefined is what a module of a cycle exports that has not run yet: its getter stays. V8 makes the properties of
// prototypes quick to reach.
const SETTLE_EXPORTS = `{
  const settled = __vite_ssr_exports__
  for (const name of Object.keys(settled)) {
    const value = settled[name]
    if (value !== undefined)
      Object.defineProperty(settled, name, { value, enumerable: true, configurable: true, writable: true })
  }
  function Prototype() {}
  Prototype.prototype = settled
  new Prototype()
}`
