import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

import { transform } from '@swc/core'

/** Takes the types away, as the build does, and nothing else. */
export const load = async (url, context, nextLoad) => {
  if (!url.startsWith('file:') || !url.endsWith('.ts')) return nextLoad(url, context)
  const { code } = await transform(await readFile(fileURLToPath(url), 'utf8'), OPTIONS)
  return { format: 'module', source: code, shortCircuit: true }
}

const OPTIONS = {
  jsc: {
    target: 'es2023',
    parser: { syntax: 'typescript' },
    transform: { verbatimModuleSyntax: true },
  },
  swcrc: false,
  sourceMaps: 'inline',
}
