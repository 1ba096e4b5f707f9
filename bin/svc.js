#!/usr/bin/env node
/** The front door of the command line: what it does is in src/cli.ts, built to dist/cli.js. */
import { existsSync } from 'node:fs'
import process from 'node:process'

const cli = new URL('../dist/cli.js', import.meta.url)

if (existsSync(cli)) {
  // Before the first module of ours is loaded: stack traces then name the TypeScript lines.
  process.setSourceMapsEnabled(true)
  await import(cli.href)
} else {
  process.stderr.write('error: the service is not built yet: run npm run build\n')
  process.exitCode = 1
}
