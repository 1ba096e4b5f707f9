import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { cleanUp, newHome, startProcess } from '../interface/service.ts'

const SHIM_SOURCE = fileURLToPath(new URL('failing-sync.c', import.meta.url))
const hasCompiler = process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0

afterAll(cleanUp)

describe.skipIf(!hasCompiler)('a failed sync (needs a C compiler on Linux to make syncs fail)', () => {
  it('is never taken for a success: 503, and only what was acknowledged counts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'failed-sync-'))
    const [shim, flag] = [join(folder, 'failing-sync.so'), join(folder, 'fail')]
    expect(spawnSync('cc', ['-shared', '-fPIC', '-o', shim, SHIM_SOURCE, '-ldl']).status).toBe(0)
    const home = await newHome()
    const service = await startProcess(home, { LD_PRELOAD: shim, FAIL_SYNC_WHILE: flag })
    const write = (level: number) =>
      service.call('POST', '/kill-switch', { body: { level, reason: `level ${level}` } })
    expect((await write(1)).status).toBe(200)

    await writeFile(flag, '')
    expect((await write(2)).body).toMatchObject({ status: 503, code: 'store.unavailable' })
    await rm(flag)

    expect((await write(3)).status).toBe(200)
    expect((await service.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await service.stop('SIGKILL')
    const restarted = await startProcess(home)
    expect((await restarted.call('GET', '/kill-switch')).body).toMatchObject({ level: 3 })
    expect((await restarted.call('GET', '/integrity?mode=full')).body).toMatchObject({ ok: true })
    await restarted.stop()
    await rm(folder, { recursive: true })
  }, 600_000)
})
