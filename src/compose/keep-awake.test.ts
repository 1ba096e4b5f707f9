import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { transformSync } from '@swc/core'
import { expect, it } from 'vitest'

const { code: KEEP_AWAKE } = transformSync(
  readFileSync(new URL('./keep-awake.ts', import.meta.url), 'utf8'),
  { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
)

const run = (work: string) => {
  const code = `
    import { setTimeout as sleep } from 'node:timers/promises'
    ${KEEP_AWAKE.replace('export ', '')}
    const work = () => sleep(20, 'done', { ref: false })
    process.stdout.write(await ${work})`
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
}

it('keeps the process alive until the work is done, and no longer', () => {
  expect(run('work()')).toMatchObject({ status: 13, stdout: '' })
  expect(run('keepAwake(work)')).toMatchObject({ status: 0, stdout: 'done', stderr: '' })
})

it('passes an error on', () => {
  const child = run(`keepAwake(() => Promise.reject(new Error('no'))).catch(({ message }) => message)`)
  expect(child).toMatchObject({ status: 0, stdout: 'no', stderr: '' })
})
