import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { interleave, median, medianRatio, type BenchRow } from '../harness.ts'

const SVC = join(process.cwd(), 'bin', 'svc.js')
const POLL_MS = 5
const ENVIRONMENT = { ...process.env, SVC_API__AUTH_TOKEN: 'startup-bench-token-of-more-than-32-characters' }

/** How long a command takes, as a multiple of starting Node. */
export const benchStartup = async (rounds: number): Promise<readonly BenchRow[]> => {
  const home = mkdtempSync(join(tmpdir(), 'signal-engine-startup-'))
  try {
    // A store with a few events, which `svc health` reads.
    await msUntilHealthy(home)
    const { node, version, health, serve } = await interleave(rounds, {
      node: () => msOf(['-e', '0']),
      version: () => msOf([SVC, '--version']),
      health: () => msOf([SVC, '--home', home, 'health']),
      serve: () => withNewHome(msUntilHealthy),
    })
    const rowOf = (id: string, what: string, values: readonly number[], target: string): BenchRow => ({
      id,
      what: `${what} (${Math.round(median(values))} ms)`,
      value: medianRatio(values, node),
      target,
      baseline: `node -e 0 (${Math.round(median(node))} ms)`,
    })
    return [
      rowOf('U1', 'svc --version', version, '<= 3'),
      rowOf('U2', 'svc health', health, '<= 8'),
      rowOf('U3', 'svc serve on an empty store, until GET /health answers', serve, '<= 15'),
    ]
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const msOf = (args: readonly string[]): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env: ENVIRONMENT })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return performance.now() - start
}

const withNewHome = async (work: (home: string) => Promise<number>): Promise<number> => {
  const home = mkdtempSync(join(tmpdir(), 'signal-engine-startup-'))
  try {
    return await work(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const msUntilHealthy = async (home: string): Promise<number> => {
  const port = await freePort()
  const start = performance.now()
  const args = [SVC, '--home', home, 'serve', '--port', String(port), '--dashboard-port', '0']
  const child = spawn(process.execPath, args, { env: ENVIRONMENT, stdio: 'ignore' })
  const ended = once(child, 'close')
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`svc serve ended with ${child.exitCode}`)
    await sleep(POLL_MS)
  }
  const tookMs = performance.now() - start
  child.kill('SIGTERM')
  await ended
  return tookMs
}

const answers = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/api/v1/health`)).ok
  } catch {
    // Not listening yet.
    return false
  }
}

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
